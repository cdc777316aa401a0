import {formatOperations, OperationCommand, operationFlags, tableFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {LoggedOperation} from '../../src/orchestrator/index.js'

const listOperations = commandCall(operationNamed('list_operations'))

export default class OrchOplog extends OperationCommand<typeof OrchOplog> {
  static override summary = listOperations.operation.summary
  static override description =
    `Lists manual changes by all users: changed priorities, paused, resumed and spawned agents. Task submissions are listed
only after they are undone.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --limit 10',
    "<%= config.bin %> <%= command.id %> --json | jq -r '.operations[0].op_id'",
  ]
  static override flags = {...operationFlags(listOperations), ...tableFlags}

  async run(): Promise<void> {
    const log = await this.perform<{operations: LoggedOperation[]}>(listOperations)
    await this.output.result(log, ({operations}) => formatOperations(operations, this.view))
  }
}
