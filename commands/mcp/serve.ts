import {once} from 'node:events'
import {Flags} from '@oclif/core'
import {McpCommand, settingFlags, toolProgramFlags} from '../../src/cli/index.js'
import {mcpSettings, meshNodeSettings} from '../../src/config/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {ServerParts, ToolHost} from '../../src/mcp/index.js'

/** How long running calls may go on once the server is asked to stop, ms. */
const drainMs = 5000

export default class McpServe extends McpCommand<typeof McpServe> {
  static override summary = 'Offer the workspace to editors and assistants as tools.'
  static override description =
    `A server of the Model Context Protocol: a client starts it and speaks with it on standard input and output, or over HTTP at
/mcp with --http. It offers the tools of the workspace, its tasks and chats as resources, and some prompts. With --program
the endpoints of a program of the data language are tools as well.

Over HTTP only clients of this machine are let in; others need --allow-remote and a token of 16 characters or more in
SVC_MCP_HTTP_BEARER_TOKEN. The server does not speak TLS.
It ends when standard input does, or on SIGTERM, and then exits with 0.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --program examples/todo.svc --tiers core,dev',
    '<%= config.bin %> <%= command.id %> --http 3921 --json',
  ]
  static override flags = {
    ...settingFlags(mcpSettings, 'tiers'),
    http: Flags.string({
      description: 'Serve over HTTP on this port, 0 for a free one; on 127.0.0.1 unless an address is named.',
      helpValue: '[HOST:]PORT',
    }),
    'allow-remote': Flags.boolean({description: 'Let other machines in, by the token alone.', dependsOn: ['http']}),
    ...toolProgramFlags,
  }

  async run(): Promise<void> {
    const {http, program} = this.flags
    const {claimStdout, ResourceFeed, serveStdio} = await import('../../src/mcp/index.js')
    const output = http === undefined ? claimStdout() : undefined
    const {configureLog} = await import('../../src/log/index.js')
    configureLog(this.logOptions())
    const {host} = this
    const feed = new ResourceFeed(host.open)
    const {askTimeoutMs} = this.settings(mcpSettings)
    const parts: ServerParts = {
      registry: await this.registry(program),
      tiers: await this.tiers(),
      host,
      feed,
      askTimeoutMs,
    }
    const serve = async () => {
      if (output === undefined) return this.#serveHttp(parts, addressOf(http ?? ''))
      this.output.notice(`Serving the tools of ${this.workspace.root} on standard input and output.`)
      return serveStdio(parts, {input: process.stdin, output, signal: this.signal})
    }
    try {
      await (this.settings(meshNodeSettings).enabled ? this.#asNode(host, serve) : serve())
    } finally {
      feed.close()
    }
  }

  /** The machine is a node of the mesh while it serves. */
  async #asNode({open, version}: ToolHost, serve: () => Promise<void>): Promise<void> {
    const {whileAnnounced} = await import('../../src/mesh/index.js')
    const notice = (text: string) => this.output.notice(text)
    const place = async () => (await open()).orchestrator
    await whileAnnounced({sources: this.settingSources(), version, place, notice}, serve)
  }

  async #serveHttp(parts: ServerParts, address: {host: string; port: number}): Promise<void> {
    const {serveHttp} = await import('../../src/mcp/index.js')
    const {httpBearerToken, httpMaxSessions, httpSessionIdleMs, httpRateLimitPerMinute} = this.settings(mcpSettings)
    const server = await serveHttp(parts, {
      address,
      token: httpBearerToken,
      allowRemote: this.flags['allow-remote'],
      sessions: {most: httpMaxSessions, idleMs: httpSessionIdleMs},
      requestsPerMinute: httpRateLimitPerMinute,
    })
    await this.warnWithoutTls(address.host)
    await this.output.event({event: 'ready', base_url: server.baseUrl, pid: process.pid})
    this.output.notice(`Serving the tools of ${this.workspace.root} at ${server.baseUrl}/mcp.`)
    if (!this.signal.aborted) await once(this.signal, 'abort')
    await server.close(drainMs)
  }
}

/** `3921`, `127.0.0.1:3921`, `[::1]:3921`. @throws flag_value */
function addressOf(given: string): {host: string; port: number} {
  const [, host = '127.0.0.1', port = ''] = /^(?:(\[[^\]]+\]|[^:\s]+):)?(\d{1,5})$/.exec(given.trim()) ?? []
  if (port === '' || Number(port) > 65_535)
    throw new SvcError('flag_value', {flag: '--http', value: given, expected: 'a port, or an address and a port'})
  return {host: host.replace(/^\[|\]$/g, ''), port: Number(port)}
}
