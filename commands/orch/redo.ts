import {OperationCommand, operationArgs} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {LoggedOperation} from '../../src/orchestrator/index.js'

const redoOperation = commandCall(operationNamed('redo_operation'))

export default class OrchRedo extends OperationCommand<typeof OrchRedo> {
  static override summary = redoOperation.operation.summary
  static override description =
    `Accepts the operation id that svc orch undo printed, or the id of an undone task. A task or agent is created again with
a new id, which is printed.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> OP-000007',
    '<%= config.bin %> <%= command.id %> OP-000008 --json | jq .task_id',
  ]
  static override args = operationArgs(redoOperation)

  async run(): Promise<void> {
    const {operation} = await this.perform<{operation: LoggedOperation}>(redoOperation)
    await this.output.result(operation, ({op_id, summary}) => `${op_id} redone: ${summary}`)
  }
}
