import {Flags} from '@oclif/core'
import {formatTasks, OrchCommand, taskFilter, taskFilterFlags, taskFlag} from '../../src/cli/index.js'

export default class OrchTasks extends OrchCommand<typeof OrchTasks> {
  static override summary = 'List tasks, the newest first.'
  static override description =
    `With --watch the list is shown anew whenever it has changed, with --json as one value per line, until it is interrupted.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --status failed --status doubted',
    '<%= config.bin %> <%= command.id %> --status completed --older-than 30d',
    '<%= config.bin %> <%= command.id %> --limit 20 --before T-0120',
    "<%= config.bin %> <%= command.id %> --json | jq '.tasks[].display_id'",
  ]
  static override flags = {
    ...taskFilterFlags,
    limit: Flags.integer({description: 'Most that are listed.', default: 50, min: 1, max: 10_000, helpValue: 'N'}),
    before: taskFlag({description: 'Only tasks that are older than this one: the next page.'}),
    watch: Flags.boolean({char: 'w', description: 'Go on, and show what changes.'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {limit, before: beforeId, watch} = this.flags
    const filter = {
      limit,
      ...taskFilter(modules, orchestrator, this.flags),
      ...(beforeId === undefined ? {} : {beforeId}),
    }
    const read = () => ({tasks: modules.tasks.listTasks(orchestrator, filter)})
    if (watch) await this.watch(read, ({tasks}) => formatTasks(tasks))
    else await this.output.result(read(), ({tasks}) => formatTasks(tasks))
  }
}
