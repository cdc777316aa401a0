import {OperationCommand, operationArgs, operationFlags, taskLine} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/orchestrator/index.js'

const retryTask = commandCall(operationNamed('retry_task'))

export default class OrchRetry extends OperationCommand<typeof OrchRetry> {
  static override summary = retryTask.operation.summary
  static override description =
    'It is queued at its old place; where it depends on tasks, these must be completed first.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042',
    '<%= config.bin %> <%= command.id %> T-0042 --dependants --json',
  ]
  static override args = operationArgs(retryTask)
  static override flags = operationFlags(retryTask)

  async run(): Promise<void> {
    const result = await this.perform<{tasks: Task[]}>(retryTask)
    await this.output.result(result, ({tasks}) => tasks.map((task) => `${taskLine(task)}\n`).join(''))
  }
}
