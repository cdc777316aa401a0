import {OperationCommand, operationArgs} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {LoggedOperation} from '../../src/orchestrator/index.js'

const redoOperation = commandCall(operationNamed('redo_operation'))

export default class OrchRedo extends OperationCommand<typeof OrchRedo> {
  static override summary = redoOperation.operation.summary
  static override description =
    'Takes the operation that svc orch undo has printed, or the task whose submission was undone. The line says which it is now.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> OP-000007',
    '<%= config.bin %> <%= command.id %> OP-000008 --json | jq .task_id',
  ]
  static override args = operationArgs(redoOperation)

  async run(): Promise<void> {
    const {operation} = await this.perform<{operation: LoggedOperation}>(redoOperation)
    await this.output.result(operation, ({op_id, summary}) => `${op_id} done again: ${summary}`)
  }
}
