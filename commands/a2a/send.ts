import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import type {Sent} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const send = commandCall(operationNamed('a2a_send'))

export default class A2aSend extends OperationCommand<typeof A2aSend> {
  static override summary = send.operation.summary
  static override description =
    `Prints the uuid of the message. It goes to the durable inbox of the agent (route db) unless another route is asked for: a
command is a process of its own, and what it keeps within itself ends with it. Under a key, or else its correlation id, a
message is sent once; without either, one that says the same as an unread one of the last minute counts as that one.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> builder reviewer completion_notice "the parser is done"',
    'git diff | <%= config.bin %> <%= command.id %> builder reviewer snapshot_share - --priority high --key snapshot-7',
  ]
  static override args = operationArgs(send)
  static override flags = operationFlags(send)

  async run(): Promise<void> {
    const sent = await this.perform<Sent>(send)
    await this.output.result(sent, ({db_message_uuid: uuid, display_id: id}) => uuid ?? id ?? '')
    if (sent.duplicate) this.output.notice('It was there already, and was not sent again.')
  }
}
