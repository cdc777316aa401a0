import {OperationCommand, operationArgs, operationFlags, turns} from '../../../src/cli/index.js'
import type {OrchSessionCompactV1} from '../../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const compactSession = commandCall(operationNamed('session_compact'))

export default class OrchSessionCompact extends OperationCommand<typeof OrchSessionCompact> {
  static override summary = compactSession.operation.summary
  static override examples = [
    '<%= config.bin %> <%= command.id %> sess_69a1b2c3_1_0f3c',
    '<%= config.bin %> <%= command.id %> sess_69a1b2c3_1_0f3c --summary "The parser is fixed."',
  ]
  static override args = operationArgs(compactSession)
  static override flags = operationFlags(compactSession)

  async run(): Promise<void> {
    const result = await this.perform<OrchSessionCompactV1>(compactSession)
    await this.output.result(result, ({session_id: id, turns_removed: count}) => `${id}: ${turns(count)} removed`)
  }
}
