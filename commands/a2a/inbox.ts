import {excerpt, formatTable, OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import type {Inbox, Message} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const inbox = commandCall(operationNamed('a2a_inbox'))

export default class A2aInbox extends OperationCommand<typeof A2aInbox> {
  static override summary = inbox.operation.summary
  static override description =
    `Lists the durable inbox, the most urgent messages first, then the oldest. With --claim they are taken for two minutes, as
--as, SVC_A2A_CONSUMER_ID or this process: nobody else gets them meanwhile, and whatever is not acknowledged by then is
delivered again. After ten deliveries, or when its agent retires, a message is a dead letter; --dead lists those, also
those of a retired agent, by its id.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> reviewer',
    '<%= config.bin %> <%= command.id %> reviewer --claim --as worker-1 --limit 1 --json | jq -r .messages[].payload',
  ]
  static override args = operationArgs(inbox)
  static override flags = operationFlags(inbox)

  async run(): Promise<void> {
    const found = await this.perform<Inbox>(inbox)
    const {displayAgent} = await import('../../src/tasks/index.js')
    await this.output.result(found, ({messages}) => formatMessages(messages, displayAgent))
  }
}

function formatMessages(messages: readonly Message[], displayAgent: (id: number) => string): string {
  if (messages.length === 0) return 'No messages.\n'
  return formatTable(
    ['MESSAGE', 'FROM', 'TYPE', 'PRIORITY', 'SENT', 'DELIVERED', 'PAYLOAD'],
    messages.map((message) => [
      String(message.id),
      typeof message.sender === 'number' ? displayAgent(message.sender) : message.sender,
      message.msg_type,
      message.priority,
      new Date(message.timestamp_ms).toISOString(),
      `${message.delivery_attempts ?? 0}${message.dead_lettered ? ', dead' : ''}`,
      excerpt(message.payload),
    ]),
  )
}
