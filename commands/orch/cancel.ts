import {Flags} from '@oclif/core'
import {manyTasksFlags, openStatuses, TasksCommand, taskArgs} from '../../src/cli/index.js'

export default class OrchCancel extends TasksCommand<typeof OrchCancel> {
  static override summary = 'Cancel tasks.'
  static override description =
    `Ends a run of a task. The tasks that wait for it fail. A cancelled task cannot be retried.

Several tasks are named by their ids, or by filters, which select tasks that are not over unless --status says otherwise.
They are cancelled in one transaction. A task that cannot be cancelled stays as it is: the command prints what happened to
each task, and ends with 1 if one was not cancelled. With one id the result under --json is that task.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042 -r "done by hand"',
    '<%= config.bin %> <%= command.id %> T-0042 T-0043 45',
    '<%= config.bin %> <%= command.id %> --agent reviewer --status queued --older-than 2d --dry-run',
    '<%= config.bin %> <%= command.id %> --all --json | jq .failed',
  ]
  static override args = taskArgs
  static override strict = false
  static override flags = {
    reason: Flags.string({char: 'r', description: 'Why.', helpValue: 'TEXT'}),
    ...manyTasksFlags,
  }

  async run(): Promise<void> {
    const {reason} = this.flags
    const id = await this.single()
    if (id === undefined)
      return this.actOnAll(openStatuses, (modules, orchestrator, ids, dryRun) =>
        modules.tasks.cancelTasks(orchestrator, ids, {reason, dryRun}),
      )
    const {modules, orchestrator} = await this.open()
    await this.printTask(modules.tasks.cancelTask(orchestrator, id, reason))
  }
}
