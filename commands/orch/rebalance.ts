import {OperationCommand} from '../../src/cli/index.js'
import type {OrchRebalanceV1} from '../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const rebalance = commandCall(operationNamed('rebalance'))

export default class OrchRebalance extends OperationCommand<typeof OrchRebalance> {
  static override summary = rebalance.operation.summary
  static override description = 'Does not move running tasks or tasks whose files are locked by another agent.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']

  async run(): Promise<void> {
    const {moves} = await this.perform<OrchRebalanceV1>(rebalance)
    const {displayAgent} = await import('../../src/tasks/index.js')
    const lines = moves.map(({display_id, from_agent_id: from, to_agent_id: to}) => {
      return `${display_id} from ${displayAgent(from)} to ${displayAgent(to)}\n`
    })
    await this.output.result({moves}, () => (lines.length === 0 ? 'Nothing to move.' : lines.join('')))
  }
}
