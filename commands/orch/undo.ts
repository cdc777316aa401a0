import {OperationCommand, operationArgs} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {LoggedOperation} from '../../src/orchestrator/index.js'

const undoOperation = commandCall(operationNamed('undo_operation'))

export default class OrchUndo extends OperationCommand<typeof OrchUndo> {
  static override summary = undoOperation.operation.summary
  static override description =
    `What can be undone is in svc orch oplog, but for submissions: these are undone by the id of their task, which is cancelled
unless somebody has started it or waits for it. Where anything has changed since, nothing is done, and the command ends
with 4.`
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
