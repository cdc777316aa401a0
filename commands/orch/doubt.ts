import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const doubtTask = commandCall(operationNamed('doubt_task'))

export default class OrchDoubt extends OperationCommand<typeof OrchDoubt> {
  static override summary = doubtTask.operation.summary
  static override description =
    `A task can be doubted in any state. A running task is stopped. The task is assigned to the agent named resolution. If
the task was completed, the tasks that depend on it are not stopped. Resolve the doubt with svc orch resolve, or accept
the task as completed with svc orch overrule.`
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 -r "the requirements contradict each other"']
  static override args = operationArgs(doubtTask)
  static override flags = operationFlags(doubtTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(doubtTask)
    await this.printTask(task)
  }
}
