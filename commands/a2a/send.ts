import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import type {Sent} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const send = commandCall(operationNamed('a2a_send'))

export default class A2aSend extends OperationCommand<typeof A2aSend> {
  static override summary = send.operation.summary
  static override description =
    `Prints the uuid of the message. The default route is db, the durable inbox of the agent. Messages on the local route exist
only within one process, so they are lost when this command exits.

A message with the same --key, or else the same correlation id, is sent only once. Without either, a message equal to an
unread one of the last minute is not sent again. To send to another machine, use --route mesh; svc mesh deliver sends
to a control plane without a workspace.`
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
