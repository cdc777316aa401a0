import {Flags} from '@oclif/core'
import {McpCommand, settingFlags, toolProgramFlags} from '../../src/cli/index.js'
import {mcpSettings, meshNodeSettings} from '../../src/config/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {ServerParts, ToolHost} from '../../src/mcp/index.js'
import {probeGpus} from '../../src/mesh/index.js'

/** Time that running calls have to finish after the server was asked to stop, ms. */
const drainMs = 5000

export default class McpServe extends McpCommand<typeof McpServe> {
  static override summary = 'Start the MCP server.'
  static override description =
    `Speaks the Model Context Protocol over standard input and output, or over HTTP at /mcp with --http. Provides tools,
resources (tasks and chats), prompts and skills (the guides). --program adds the endpoints of a data language program as tools. Supports the
protocol revisions from 2024-11-05 to 2025-11-25, and 2026-07-28.

Over HTTP, only clients on this machine are accepted by default. To accept other machines, use --allow-remote and set
SVC_MCP_HTTP_BEARER_TOKEN to a token of at least 16 characters. The server does not support TLS. Clients with the token in
SVC_MCP_HTTP_READ_BEARER_TOKEN may only call tools that read the workspace. At /v1/ws, WebSocket clients can list and call
tools, and receive the entries of the bulletin board.

Exits with status 0 on SIGTERM and, without --http, when standard input closes.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --program examples/todo.svc --tiers core,dev',
    '<%= config.bin %> <%= command.id %> --http 3921 --json',
  ]
  static override flags = {
    ...settingFlags(mcpSettings, 'tiers'),
    http: Flags.string({
      description: 'Address to serve HTTP on; port 0 selects a free port. (default host: 127.0.0.1)',
      helpValue: '[HOST:]PORT',
    }),
    'allow-remote': Flags.boolean({
      description: 'Accept connections from other machines; requires a token in SVC_MCP_HTTP_BEARER_TOKEN.',
      dependsOn: ['http'],
    }),
    ...toolProgramFlags,
  }

  async run(): Promise<void> {
    const {http, program} = this.flags
    const {BackgroundCalls, claimStdout, ResourceFeed, serveStdio} = await import('../../src/mcp/index.js')
    const output = http === undefined ? claimStdout() : undefined
    const {configureLog} = await import('../../src/log/index.js')
    configureLog(this.logOptions())
    const {host} = this
    const feed = new ResourceFeed(host.open)
    const {askTimeoutMs} = this.settings(mcpSettings)
    const registry = await this.registry(program)
    const background = new BackgroundCalls(registry, host)
    const parts: ServerParts = {
      registry,
      tiers: await this.tiers(),
      host,
      feed,
      background,
      askTimeoutMs,
    }
    // Not awaited: the server answers in the meantime.
    void probeGpus(this.settingSources())
    const serve = async () => {
      if (output === undefined) return this.#serveHttp(parts, addressOf(http ?? ''))
      this.output.notice(`Serving the tools of ${this.workspace.root} on standard input and output.`)
      return serveStdio(parts, {input: process.stdin, output, signal: this.signal})
    }
    try {
      await (this.settings(meshNodeSettings).enabled ? this.#asNode(host, serve) : serve())
    } finally {
      background.close()
      feed.close()
    }
  }

  /** Announces this machine as a node of the mesh while it serves. */
  async #asNode({open, version}: ToolHost, serve: () => Promise<void>): Promise<void> {
    const {whileAnnounced} = await import('../../src/mesh/index.js')
    const notice = (text: string) => this.output.notice(text)
    const place = async () => (await open()).orchestrator
    await whileAnnounced({sources: this.settingSources(), version, place, notice}, serve)
  }

  async #serveHttp(parts: ServerParts, address: {host: string; port: number}): Promise<void> {
    const {serveHttp} = await import('../../src/mcp/index.js')
    const settings = this.settings(mcpSettings)
    const {httpMaxSessions, httpSessionIdleMs, httpRateLimitPerMinute} = settings
    const server = await serveHttp(parts, {
      address,
      access: {
        token: settings.httpBearerToken,
        readToken: settings.httpReadBearerToken,
        allowedTools: settings.httpAllowedTools,
        readRoleAllowedTools: settings.httpReadRoleAllowedTools,
      },
      healthAuth: settings.httpHealthAuth,
      allowRemote: this.flags['allow-remote'],
      sessions: {max: httpMaxSessions, idleMs: httpSessionIdleMs},
      requestsPerMinute: httpRateLimitPerMinute,
    })
    await this.warnWithoutTls(address.host)
    await this.output.event({event: 'ready', base_url: server.baseUrl, pid: process.pid})
    this.output.notice(`Serving the tools of ${this.workspace.root} at ${server.baseUrl}/mcp.`)
    await this.untilStopped()
    await server.close(drainMs)
  }
}

/** `3921`, `127.0.0.1:3921`, `[::1]:3921`. @throws flag_value */
function addressOf(value: string): {host: string; port: number} {
  const [, host = '127.0.0.1', port = ''] = /^(?:(\[[^\]]+\]|[^:\s]+):)?(\d{1,5})$/.exec(value.trim()) ?? []
  if (port === '' || Number(port) > 65_535)
    throw new SvcError('flag_value', {flag: '--http', value, expected: 'a port, or an address and a port'})
  return {host: host.replace(/^\[|\]$/g, ''), port: Number(port)}
}
