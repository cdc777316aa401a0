import {once} from 'node:events'
import {Flags} from '@oclif/core'
import {controlUrlFlag, MeshCommand} from '../../src/cli/index.js'
import {orchestratorSettings} from '../../src/config/index.js'
import type {MeshDashboardReadyV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class MeshDashboard extends MeshCommand<typeof MeshDashboard> {
  static override summary = 'Show the nodes, leases and messages of a mesh in a browser.'
  static override description =
    `A page of this machine alone, kept up to date: nodes and their state, leases and how long they are held, messages that
wait or are dead, and whether the control plane answers. With the token of an administrator, or of the role mesh, nodes can
be put in quarantine or maintenance there, leases revoked, and dead messages retried or dropped.

The token stays in this process. The address that is printed has a key in it, a new one each time: whoever has it can do
what the page can. Stop it with SIGTERM or Ctrl-C; it then exits with 0.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --control-url http://127.0.0.1:9847 --port 0 --json',
  ]
  static override flags = {
    ...controlUrlFlag,
    host: Flags.string({
      description: 'Address of this machine alone to listen on.',
      default: '127.0.0.1',
      helpValue: 'HOST',
    }),
    port: Flags.integer({
      description: 'Port to listen on; 0 takes a free one.',
      default: 9849,
      min: 0,
      max: 65_535,
      helpValue: 'PORT',
    }),
  }

  async run(): Promise<void> {
    const {host, port} = this.flags
    const {isLoopback} = await import('../../src/net/index.js')
    if (!isLoopback(host))
      throw new SvcError('flag_value', {flag: '--host', value: host, expected: 'an address of this machine alone'})
    const client = await this.client()
    const {staleThresholdMs: staleAfterMs} = this.settings(orchestratorSettings)
    const {startDashboard} = await import('../../src/mesh/index.js')
    const dashboard = await startDashboard({client, address: {host, port}, staleAfterMs})
    try {
      const {baseUrl} = dashboard
      const ready: MeshDashboardReadyV1 = {event: 'ready', base_url: baseUrl, pid: process.pid}
      await this.output.line(ready, baseUrl)
      this.output.notice(`It shows the mesh of ${client.baseUrl} at the address that was printed.`)
      this.output.notice('Keep that address to yourself: whoever has it can do what the page can.')
      if (!this.signal.aborted) await once(this.signal, 'abort')
    } finally {
      await dashboard.close()
    }
  }
}
