import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/orchestrator/index.js'

const cancelTask = commandCall(operationNamed('cancel_task'))

export default class OrchCancel extends OperationCommand<typeof OrchCancel> {
  static override summary = cancelTask.operation.summary
  static override description =
    'A run of it is ended. The tasks that wait for it fail. What is cancelled cannot be tried again.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 -r "done by hand"']
  static override args = operationArgs(cancelTask)
  static override flags = operationFlags(cancelTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(cancelTask)
    await this.printTask(task)
  }
}
