import {formatSession, OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import type {OrchSessionV1} from '../../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const showSession = commandCall(operationNamed('session_info'))

export default class OrchSessionShow extends OperationCommand<typeof OrchSessionShow> {
  static override summary = showSession.operation.summary
  static override examples = ['<%= config.bin %> <%= command.id %> sess_69a1b2c3_1_0f3c']
  static override args = operationArgs(showSession)
  static override flags = operationFlags(showSession)

  async run(): Promise<void> {
    const session = await this.perform<OrchSessionV1>(showSession)
    await this.output.result(session, formatSession)
  }
}
