import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const overruleDoubt = commandCall(operationNamed('overrule_doubt'))

export default class OrchOverrule extends OperationCommand<typeof OrchOverrule> {
  static override summary = overruleDoubt.operation.summary
  static override description = 'Marks the task as completed. The doubt and the reason remain in its history.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 -r "good enough for the demo"']
  static override args = operationArgs(overruleDoubt)
  static override flags = operationFlags(overruleDoubt)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(overruleDoubt)
    await this.printTask(task)
  }
}
