import {OperationCommand, operationArgs} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const approveTask = commandCall(operationNamed('approve_task'))

export default class OrchApprove extends OperationCommand<typeof OrchApprove> {
  static override summary = approveTask.operation.summary
  static override description = 'The task is then queued, or waits until its dependencies are completed.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042']
  static override args = operationArgs(approveTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(approveTask)
    await this.printTask(task)
  }
}
