import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const doubtTask = commandCall(operationNamed('doubt_task'))

export default class OrchDoubt extends OperationCommand<typeof OrchDoubt> {
  static override summary = doubtTask.operation.summary
  static override description =
    `The task goes to the agent named resolution, whatever its state, and a run of it is ended; tasks that waited for a completed
one go on. Answer with svc orch resolve, or take the task as done with svc orch overrule.`
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 -r "the requirements contradict each other"']
  static override args = operationArgs(doubtTask)
  static override flags = operationFlags(doubtTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(doubtTask)
    await this.printTask(task)
  }
}
