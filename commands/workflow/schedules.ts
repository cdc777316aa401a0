import {formatSchedules, OrchCommand, tableFlags} from '../../src/cli/index.js'

export default class WorkflowSchedules extends OrchCommand<typeof WorkflowSchedules> {
  static override summary = 'List when the daemon starts workflows.'
  static override description =
    `Lists the workflows with cron in the files of orchestrator.workflow_files, the next start first. Times are in UTC. A
start in the past is one that no daemon has made yet.`
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> -o wide']
  static override flags = {...tableFlags}

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {listSchedules} = await modules.workflows.loadWorkflows()
    const list = await listSchedules(orchestrator)
    for (const {error} of list.faults) this.output.notice(`warning: ${error}`)
    await this.output.result(list, () => formatSchedules(list.schedules, this.view))
    const {findDaemon} = await import('../../src/daemon/index.js')
    if (list.schedules.length > 0 && findDaemon(this.workspace.root) === undefined)
      this.output.notice('No daemon is running, so no workflow is started. Start it with `svc daemon start`.')
  }
}
