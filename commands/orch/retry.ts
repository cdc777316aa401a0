import {Flags} from '@oclif/core'
import {manyTasksFlags, TasksCommand, taskArgs, taskLine} from '../../src/cli/index.js'

export default class OrchRetry extends TasksCommand<typeof OrchRetry> {
  static override summary = 'Retry failed or cancelled tasks.'
  static override description =
    `The task returns to its previous position in the queue. A task whose dependencies failed can be retried only after its
dependencies. A task that was cancelled or failed before it was approved waits for the approval again.

Select several tasks by id or with filters. Filters select only failed tasks. All tasks are retried in one transaction.
The command prints the outcome of each task. Tasks that cannot be retried are not changed, and the exit status is 1.
With one id, --json prints the array tasks, which contains the complete task and its retried dependants.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042',
    '<%= config.bin %> <%= command.id %> T-0042 --dependants --json',
    '<%= config.bin %> <%= command.id %> --all --dry-run',
  ]
  static override args = taskArgs
  static override strict = false
  static override flags = {
    dependants: Flags.boolean({
      description: 'Also retry the tasks that failed because they depend on the selected tasks.',
    }),
    ...manyTasksFlags('Retry all failed tasks.'),
  }

  async run(): Promise<void> {
    const {dependants} = this.flags
    const id = await this.single()
    if (id === undefined)
      return this.actOnAll(['Failed'], (modules, orchestrator, ids, dryRun) =>
        modules.tasks.retryTasks(orchestrator, ids, {dependants, dryRun}),
      )
    const {modules, orchestrator} = await this.open()
    const tasks = modules.tasks.retryTask(orchestrator, id, {dependants})
    await this.output.result({tasks}, () => tasks.map((task) => `${taskLine(task)}\n`).join(''))
  }
}
