import {OperationCommand, operationArgs} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {LoggedOperation} from '../../src/orchestrator/index.js'

const undoOperation = commandCall(operationNamed('undo_operation'))

export default class OrchUndo extends OperationCommand<typeof OrchUndo> {
  static override summary = undoOperation.operation.summary
  static override description =
    `svc orch oplog lists the operations. To undo a submission, pass the task id: the task is cancelled unless it was started or
another task depends on it. If the affected task or agent has changed since, nothing is undone and the exit status is 4.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> OP-000007',
    '<%= config.bin %> <%= command.id %> T-0042',
  ]
  static override args = operationArgs(undoOperation)

  async run(): Promise<void> {
    const {operation} = await this.perform<{operation: LoggedOperation}>(undoOperation)
    await this.output.result(operation, ({op_id, summary}) => `${op_id} undone: ${summary}`)
  }
}
