import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const completeTask = commandCall(operationNamed('complete_task'))

export default class OrchComplete extends OperationCommand<typeof OrchComplete> {
  static override summary = completeTask.operation.summary
  static override description =
    `Releases the file locks of the task and queues the tasks that depend on it. A claimed task requires --claim with the
generation of the claim; --force overrides the claim and records an event.`
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
