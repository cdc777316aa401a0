import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {counted} from '../../src/errors/index.js'
import type {Broadcasted} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const broadcast = commandCall(operationNamed('a2a_broadcast'))

export default class A2aBroadcast extends OperationCommand<typeof A2aBroadcast> {
  static override summary = broadcast.operation.summary
  static override description =
    `Puts a copy of the message into the durable inbox of every other agent that is not retired. Each agent acknowledges its
own copy. An agent with an identical message from the last minute that is still unread receives no further copy. The
message is also posted on the bulletin board, to which clients of the daemon can subscribe.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> builder broadcast_news "version 2 is released"',
    'git log -1 | <%= config.bin %> <%= command.id %> builder vcs_event - --priority high',
  ]
  static override args = operationArgs(broadcast)
  static override flags = operationFlags(broadcast)

  async run(): Promise<void> {
    const sent = await this.perform<Broadcasted>(broadcast)
    await this.output.result(sent, ({delivered_to: count}) => `delivered to ${counted(count, 'agent')}`)
  }
}
