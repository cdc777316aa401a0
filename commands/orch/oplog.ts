import {formatTable, OperationCommand, operationFlags} from '../../src/cli/index.js'
import {formatMoment} from '../../src/config/index.js'
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
  static override flags = operationFlags(listOperations)

  async run(): Promise<void> {
    const log = await this.perform<{operations: LoggedOperation[]}>(listOperations)
    await this.output.result(log, ({operations}) =>
      operations.length === 0
        ? 'Nothing to undo.\n'
        : formatTable(
            ['OPERATION', 'WHEN', 'STATE', 'WHAT'],
            operations.map(({op_id, timestamp_ms, undone, summary}) => [
              op_id,
              formatMoment(timestamp_ms),
              undone ? 'undone' : 'done',
              summary,
            ]),
          ),
    )
  }
}
