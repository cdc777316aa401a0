import {formatInbox, OperationCommand, operationArgs, operationFlags, tableFlags} from '../../src/cli/index.js'
import type {Inbox} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const inbox = commandCall(operationNamed('a2a_inbox'))

export default class A2aInbox extends OperationCommand<typeof A2aInbox> {
  static override summary = inbox.operation.summary
  static override description =
    `Lists the durable inbox by priority, oldest first within a priority. --claim claims the messages for two minutes, during
which no other consumer receives them. Messages that are not acknowledged in time are redelivered. The consumer name is
--as, or else SVC_A2A_CONSUMER_ID, or else pid:N with the id of this process. When that process has ended, any consumer
can acknowledge its messages.

The default source is db, the durable inbox. --source mesh lists the messages from other machines, newest first, and
--source merged those of all sources. To acknowledge a message of the mesh, pass its id, such as mesh:12.

A message becomes a dead letter after ten deliveries or when its agent retires. --dead lists dead letters. Refer to a
retired agent by its id, such as A-03.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> reviewer',
    '<%= config.bin %> <%= command.id %> reviewer --source merged',
    '<%= config.bin %> <%= command.id %> reviewer --claim --as worker-1 --limit 1 --json | jq -r ".messages[].payload"',
  ]
  static override args = operationArgs(inbox)
  static override flags = {...operationFlags(inbox), ...tableFlags}

  async run(): Promise<void> {
    const found = await this.perform<Inbox>(inbox)
    const {displayAgent} = await import('../../src/tasks/index.js')
    await this.output.result(found, ({messages}) => formatInbox(messages, displayAgent, this.view))
  }
}
