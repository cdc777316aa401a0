import {formatAgents, OperationCommand, tableFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Agent} from '../../src/tasks/index.js'

const listAgents = commandCall(operationNamed('list_agents'))

export default class OrchAgents extends OperationCommand<typeof OrchAgents> {
  static override summary = listAgents.operation.summary
  static override description = 'Retired agents are not listed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq \'.agents[] | select(.state == "paused").name\'',
  ]
  static override flags = tableFlags

  async run(): Promise<void> {
    const result = await this.perform<{agents: Agent[]}>(listAgents)
    await this.output.result(result, ({agents}) => formatAgents(agents, this.view))
  }
}
