import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const completeTask = commandCall(operationNamed('complete_task'))

export default class OrchComplete extends OperationCommand<typeof OrchComplete> {
  static override summary = completeTask.operation.summary
  static override description =
    `Its files are free again, and the tasks that waited for it are queued. A task that somebody holds is completed under that
claim alone: --claim names it, and --force takes the task over, which svc orch events shows.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042 --claim 1 --summary "Added, with a test"',
    'cat report.md | <%= config.bin %> <%= command.id %> T-0042 --summary -',
  ]
  static override args = operationArgs(completeTask)
  static override flags = operationFlags(completeTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(completeTask)
    await this.printTask(task)
  }
}
