import {Flags} from '@oclif/core'
import {manyTasksFlags, TasksCommand, taskArgs, taskLine} from '../../src/cli/index.js'

export default class OrchRetry extends TasksCommand<typeof OrchRetry> {
  static override summary = 'Retry failed tasks.'
  static override description =
    `A task is queued at its old place. If it depends on tasks, these must be completed first.

Several tasks are named by their ids, or by filters, which select failed tasks. They are retried in one transaction. A task
that cannot be retried stays as it is: the command prints what happened to each task, and ends with 1 if one was not
retried. With one id the result under --json is {"tasks"} with whole tasks.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042',
    '<%= config.bin %> <%= command.id %> T-0042 --dependants --json',
    '<%= config.bin %> <%= command.id %> --all --dry-run',
  ]
  static override args = taskArgs
  static override strict = false
  static override flags = {
    dependants: Flags.boolean({description: 'Also the tasks that failed because these did.'}),
    ...manyTasksFlags,
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
