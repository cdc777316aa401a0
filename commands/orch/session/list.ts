import {formatSessions, OperationCommand, tableFlags} from '../../../src/cli/index.js'
import type {OrchSessionsV1} from '../../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const listSessions = commandCall(operationNamed('session_list'))

export default class OrchSessionList extends OperationCommand<typeof OrchSessionList> {
  static override summary = listSessions.operation.summary
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override flags = tableFlags

  async run(): Promise<void> {
    const result = await this.perform<OrchSessionsV1>(listSessions)
    await this.output.result(result, ({sessions}) => formatSessions(sessions, this.view))
  }
}
