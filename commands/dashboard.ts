import {Flags} from '@oclif/core'
import {OrchCommand, serverFlag, settingFlags} from '../src/cli/index.js'
import {appSettings} from '../src/config/index.js'
import type {DashboardReadyV1} from '../src/contracts/index.js'
import {SvcError} from '../src/errors/index.js'

export default class Dashboard extends OrchCommand<typeof Dashboard> {
  static override summary = 'Serve a web dashboard for this workspace.'
  static override description =
    `Serves a page, on this machine only, that shows the tasks, workflow runs, plans, questions and agents of the workspace,
and updates as they change. It also shows nodes and leases of the mesh, loaded models of the inference server, and the
tables of a running svc db serve. Its buttons perform the same operations as the commands of svc orch and svc workflow, on
behalf of the person at the page.

The printed URL contains a key, which is stored in .svc/dashboard.key. Anyone with the URL can use the page. Delete the
file to get another key. Exits with status 0 on SIGTERM or Ctrl-C.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --read-only --port 0 --json',
  ]
  static override flags = {
    host: Flags.string({description: 'Loopback address to listen on.', default: '127.0.0.1', helpValue: 'HOST'}),
    port: Flags.integer({
      description: 'Port to listen on; 0 selects a free port.',
      default: 9850,
      min: 0,
      max: 65_535,
      helpValue: 'N',
    }),
    server: serverFlag,
    ...settingFlags(appSettings, 'url'),
    'read-only': Flags.boolean({description: 'Show the workspace without changing it.'}),
  }

  async run(): Promise<void> {
    const {host, port, 'read-only': isReadOnly} = this.flags
    const {isLoopback} = await import('../src/net/index.js')
    if (!isLoopback(host))
      throw new SvcError('flag_value', {flag: '--host', value: host, expected: 'a loopback address'})
    const base = await this.openOperations('cli')
    const {server} = this.flags
    const {url: appUrl} = this.settings(appSettings)
    const named = {
      ...(server === undefined ? {} : {SVC_INFERENCE_URL: server}),
      ...(appUrl === undefined ? {} : {SVC_APP_URL: appUrl}),
    }
    const sources = {...base.sources, env: {...base.sources.env, ...named}}
    const {startDashboard} = await import('../src/dashboard/index.js')
    const dashboard = await startDashboard({
      base: {...base, sources},
      address: {host, port},
      isReadOnly,
    })
    try {
      const {pageUrl} = dashboard
      const ready: DashboardReadyV1 = {event: 'ready', base_url: dashboard.baseUrl, page_url: pageUrl, pid: process.pid}
      await this.output.line(ready, pageUrl)
      this.output.notice(`Serving the dashboard of ${this.workspace.root} at this URL.`)
      this.output.notice('Keep the URL secret: anyone with it can use the dashboard.')
      await this.untilStopped()
    } finally {
      await dashboard.close()
    }
  }
}
