import {formatTask, OperationCommand, operationArgs} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/orchestrator/index.js'

const getTask = commandCall(operationNamed('get_task'))

export default class OrchTask extends OperationCommand<typeof OrchTask> {
  static override summary = getTask.operation.summary
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042',
    '<%= config.bin %> <%= command.id %> 42 --json | jq -r .result.text',
  ]
  static override args = operationArgs(getTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(getTask)
    await this.output.result(task, formatTask)
  }
}
