import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const approveTask = commandCall(operationNamed('approve_task'))

export default class OrchApprove extends OperationCommand<typeof OrchApprove> {
  static override summary = approveTask.operation.summary
  static override description =
    `The task is then queued, or waits until its dependencies are completed. For a task in progress that requires a review,
this records the review, which counts if the reviewer is not the worker.`
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042']
  static override args = operationArgs(approveTask)
  static override flags = operationFlags(approveTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(approveTask)
    await this.printTask(task)
  }
}
