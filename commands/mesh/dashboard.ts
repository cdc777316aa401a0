import {Flags} from '@oclif/core'
import {controlUrlFlag, MeshCommand} from '../../src/cli/index.js'
import {orchestratorSettings} from '../../src/config/index.js'
import type {MeshDashboardReadyV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class MeshDashboard extends MeshCommand<typeof MeshDashboard> {
  static override summary = 'Serve a web dashboard for a mesh.'
  static override description =
    `Serves a page, on this machine only, with live data: nodes, leases, queued messages, dead letters, and whether the
control plane responds. With a token of the role admin or mesh, you can quarantine nodes, set maintenance mode, revoke
leases, and retry or drop dead letters.

The mesh token is not sent to the browser. The printed URL contains a key, which is stored in ~/.svc/mesh/dashboard.key.
Anyone with the URL can use the page. Delete the file to get another key. Exits with status 0 on SIGTERM or Ctrl-C.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --control-url http://127.0.0.1:9847 --port 0 --json',
  ]
  static override flags = {
    ...controlUrlFlag,
    host: Flags.string({
      description: 'Loopback address to listen on.',
      default: '127.0.0.1',
      helpValue: 'HOST',
    }),
    port: Flags.integer({
      description: 'Port to listen on; 0 selects a free port.',
      default: 9849,
      min: 0,
      max: 65_535,
      helpValue: 'N',
    }),
  }

  async run(): Promise<void> {
    const {host, port} = this.flags
    const {isLoopback} = await import('../../src/net/index.js')
    if (!isLoopback(host))
      throw new SvcError('flag_value', {flag: '--host', value: host, expected: 'a loopback address'})
    const client = await this.client()
    const {staleThresholdMs: staleAfterMs} = this.settings(orchestratorSettings)
    const {startDashboard, userFile} = await import('../../src/mesh/index.js')
    const keyPath = userFile(process.env, 'mesh', 'dashboard.key')
    const dashboard = await startDashboard({client, address: {host, port}, staleAfterMs, keyPath})
    try {
      const {baseUrl, pageUrl} = dashboard
      const ready: MeshDashboardReadyV1 = {event: 'ready', base_url: baseUrl, page_url: pageUrl, pid: process.pid}
      await this.output.line(ready, pageUrl)
      this.output.notice(`Serving the dashboard of ${client.baseUrl} at this URL.`)
      this.output.notice('Keep the URL secret: anyone with it can use the dashboard.')
      await this.untilStopped()
    } finally {
      await dashboard.close()
    }
  }
}
