import {agentLine, OperationCommand, operationArgs} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {Agent} from '../../../src/tasks/index.js'

const pauseAgent = commandCall(operationNamed('pause_agent'))

export default class OrchAgentPause extends OperationCommand<typeof OrchAgentPause> {
  static override summary = pauseAgent.operation.summary
  static override examples = ['<%= config.bin %> <%= command.id %> builder']
  static override args = operationArgs(pauseAgent)

  async run(): Promise<void> {
    const {agent} = await this.perform<{agent: Agent}>(pauseAgent)
    await this.output.result(agent, agentLine)
  }
}
