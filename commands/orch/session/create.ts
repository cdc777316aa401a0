import {OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import type {OrchSessionInfoV1} from '../../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const createSession = commandCall(operationNamed('session_create'))

export default class OrchSessionCreate extends OperationCommand<typeof OrchSessionCreate> {
  static override summary = createSession.operation.summary
  static override description =
    `Prints the id of the session, which svc orch submit accepts with --session-id. The description and the answer of each task
of a model with this session are added to it as turns.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> builder',
    '<%= config.bin %> <%= command.id %> A-01 --tenant-id acme',
  ]
  static override args = operationArgs(createSession)
  static override flags = operationFlags(createSession)

  async run(): Promise<void> {
    const session = await this.perform<OrchSessionInfoV1>(createSession)
    await this.output.result(session, ({id}) => id)
  }
}
