import {Flags} from '@oclif/core'
import {manyTasksFlags, openStatuses, TasksCommand, taskArgs} from '../../src/cli/index.js'

export default class OrchCancel extends TasksCommand<typeof OrchCancel> {
  static override summary = 'Cancel tasks.'
  static override description =
    `Running tasks are stopped. Tasks that depend on a cancelled task fail. A cancelled task cannot be retried; submit it
again instead.

Select several tasks by id or with filters. Filters select only unfinished tasks unless --status is given. All tasks are
cancelled in one transaction. The command prints the outcome of each task. Tasks that cannot be cancelled are not
changed, and the exit status is 1. With one id, --json prints only the task.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042 -r "done by hand"',
    '<%= config.bin %> <%= command.id %> T-0042 T-0043 45',
    '<%= config.bin %> <%= command.id %> --agent reviewer --status queued --older-than 2d --dry-run',
    '<%= config.bin %> <%= command.id %> --all --json | jq .failed',
  ]
  static override args = taskArgs
  static override strict = false
  static override flags = {
    reason: Flags.string({char: 'r', description: 'Reason, stored with the task.', helpValue: 'TEXT'}),
    ...manyTasksFlags('Cancel all unfinished tasks.'),
  }

  async run(): Promise<void> {
    const {reason} = this.flags
    const id = await this.single()
    if (id === undefined)
      return this.actOnAll(openStatuses, (modules, orchestrator, ids, dryRun) =>
        modules.tasks.cancelTasks(orchestrator, ids, {reason, dryRun}),
      )
    const {modules, orchestrator} = await this.open()
    await this.printTask(modules.tasks.cancelTask(orchestrator, id, {reason}))
  }
}
