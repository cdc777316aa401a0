import {formatHistory, OperationCommand, operationArgs, operationFlags, tableFlags} from '../../src/cli/index.js'
import type {MessageHistory} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const history = commandCall(operationNamed('a2a_history'))

export default class A2aHistory extends OperationCommand<typeof A2aHistory> {
  static override summary = history.operation.summary
  static override description =
    `Lists durable messages, acknowledged or not. Acknowledged messages are deleted after seven days. For the next page, pass
the id of the last message as --before. Refer to a retired agent by its id, such as A-03.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> reviewer --limit 10 --before 118',
    '<%= config.bin %> <%= command.id %> --thread release-7 --json | jq -r ".messages[].payload"',
  ]
  static override args = operationArgs(history)
  static override flags = {...operationFlags(history), ...tableFlags}

  async run(): Promise<void> {
    const found = await this.perform<MessageHistory>(history)
    const {displayAgent} = await import('../../src/tasks/index.js')
    await this.output.result(found, ({messages}) => formatHistory(messages, displayAgent, this.view))
  }
}
