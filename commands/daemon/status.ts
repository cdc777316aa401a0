import {Flags} from '@oclif/core'
import {SvcCommand} from '../../src/cli/index.js'
import {daemonSettings, formatMoment} from '../../src/config/index.js'
import type {DaemonStatusV1} from '../../src/contracts/index.js'
import type {Discovery} from '../../src/daemon/index.js'

export default class DaemonStatus extends SvcCommand<typeof DaemonStatus> {
  static override summary = 'Show whether the daemon is running and responding.'
  static override description =
    `Exits with status 3 if no daemon is running, even if .svc/daemon.json still exists. Exits with status 5 if the daemon
does not respond.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    'addr=$(<%= config.bin %> <%= command.id %> --json | jq -r .addr)',
  ]
  static override flags = {
    timeout: Flags.integer({
      description: 'Time to wait for the response; exits with status 5 on timeout.',
      default: 5,
      min: 1,
      max: 3600,
      helpValue: 'SECONDS',
    }),
  }

  async run(): Promise<void> {
    const {requireDaemon} = await import('../../src/daemon/index.js')
    const found = requireDaemon(this.workspace.root)
    const {pid, addr, protocol, repository_id, started_at_ms, ending = false} = found
    const server_version = addr === null ? null : await this.#version(addr)
    const status: DaemonStatusV1 = {
      running: true,
      pid,
      addr,
      protocol,
      repository_id,
      started_at_ms,
      server_version,
      ending,
    }
    await this.output.result(status, asText)
  }

  async #version(addr: NonNullable<Discovery['addr']>): Promise<string> {
    const {DaemonClient} = await import('../../src/daemon/index.js')
    const {token} = this.settings(daemonSettings)
    const client = await DaemonClient.connect(addr, {
      token,
      timeoutMs: this.flags.timeout * 1000,
      signal: this.signal,
    })
    try {
      return (await client.call<{server_version: string}>('orch.ping')).server_version
    } finally {
      client.close()
    }
  }
}

function asText({pid, addr, started_at_ms: started, ending}: DaemonStatusV1): string {
  if (ending) return `The daemon (pid ${pid}) is shutting down and waits for its tasks.`
  const address = addr === null ? 'not listening' : `listening on ${addr}`
  return `The daemon (pid ${pid}) has been running since ${formatMoment(started)}, ${address}.`
}
