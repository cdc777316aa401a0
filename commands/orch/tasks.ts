import {Flags} from '@oclif/core'
import {formatTasks, OrchCommand, tableFlags, taskFilter, taskFilterFlags, taskFlag} from '../../src/cli/index.js'
import {listTasks} from '../../src/tasks/index.js'

export default class OrchTasks extends OrchCommand<typeof OrchTasks> {
  static override summary = 'List tasks, newest first.'
  static override description =
    '--watch updates the list on every change until interrupted; with --json it prints one object per line.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --status failed --status doubted',
    '<%= config.bin %> <%= command.id %> --status completed --older-than 30d',
    '<%= config.bin %> <%= command.id %> --limit 20 --before T-0120',
    "<%= config.bin %> <%= command.id %> --json | jq '.tasks[].display_id'",
  ]
  static override flags = {
    ...tableFlags,
    ...taskFilterFlags,
    remote: Flags.boolean({description: 'Only tasks that other nodes run.', exclusive: ['status']}),
    limit: Flags.integer({description: 'Maximum number of tasks.', default: 50, min: 1, max: 10_000, helpValue: 'N'}),
    before: taskFlag({description: 'Only tasks with a smaller id, to get the next page.'}),
    watch: Flags.boolean({char: 'w', description: 'Update the output on every change until interrupted.'}),
  }

  async run(): Promise<void> {
    const orchestrator = await this.openStore()
    const {limit, before: beforeId, watch} = this.flags
    const filter = {
      limit,
      ...taskFilter(orchestrator, this.flags),
      ...(this.flags.remote ? {status: ['RemoteHold' as const]} : {}),
      ...(beforeId === undefined ? {} : {beforeId}),
    }
    const read = () => ({tasks: listTasks(orchestrator, filter)})
    const format = ({tasks}: ReturnType<typeof read>) => formatTasks(tasks, this.view)
    if (watch) await this.watch(read, format)
    else await this.output.result(read(), format)
  }
}
