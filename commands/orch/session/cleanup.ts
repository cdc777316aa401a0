import {OperationCommand} from '../../../src/cli/index.js'
import type {OrchSessionCleanupV1} from '../../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const cleanupSessions = commandCall(operationNamed('session_cleanup'))

export default class OrchSessionCleanup extends OperationCommand<typeof OrchSessionCleanup> {
  static override summary = cleanupSessions.operation.summary
  static override description =
    `A session is archived after orchestrator.session.archive_timeout_secs without activity.`
  static override examples = ['<%= config.bin %> <%= command.id %>']

  async run(): Promise<void> {
    const {removed} = await this.perform<OrchSessionCleanupV1>(cleanupSessions)
    await this.output.result({removed}, () => (removed.length === 0 ? 'Nothing to remove.' : removed.join('\n')))
  }
}
