import {OperationCommand, operationArgs, turns} from '../../../src/cli/index.js'
import type {OrchSessionResetV1} from '../../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const resetSession = commandCall(operationNamed('session_reset'))

export default class OrchSessionReset extends OperationCommand<typeof OrchSessionReset> {
  static override summary = resetSession.operation.summary
  static override description = `The session becomes active, and keeps its metadata and its counts.`
  static override examples = ['<%= config.bin %> <%= command.id %> sess_69a1b2c3_1_0f3c']
  static override args = operationArgs(resetSession)

  async run(): Promise<void> {
    const result = await this.perform<OrchSessionResetV1>(resetSession)
    await this.output.result(result, ({session_id: id, turns_cleared: count}) => `${id}: ${turns(count)} deleted`)
  }
}
