import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import type {Sent} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const send = commandCall(operationNamed('a2a_send'))

export default class A2aSend extends OperationCommand<typeof A2aSend> {
  static override summary = send.operation.summary
  static override description =
    `Prints the UUID of the message. The default route is db, the durable inbox of the agent. Messages on the local route
exist only within one process, so they are lost when this command exits.

Messages with the same --key are sent only once; without --key, the correlation id is used as the key. Without both, a
message is not sent if an identical message from the last minute is still unread. To send to another machine, use
--route mesh or, outside a workspace, svc mesh deliver.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> builder reviewer completion_notice "the parser is done"',
    'git diff | <%= config.bin %> <%= command.id %> builder reviewer snapshot_share - --priority high --key snapshot-7',
  ]
  static override args = operationArgs(send)
  static override flags = operationFlags(send)

  async run(): Promise<void> {
    const sent = await this.perform<Sent>(send)
    await this.output.result(sent, ({db_message_uuid: uuid, display_id: id}) => uuid ?? id ?? '')
    if (sent.duplicate) this.output.notice('Duplicate message; not sent again.')
  }
}
