import {agentLine, OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {Agent} from '../../../src/tasks/index.js'

const spawnAgent = commandCall(operationNamed('spawn_agent'))

export default class OrchAgentSpawn extends OperationCommand<typeof OrchAgentSpawn> {
  static override summary = spawnAgent.operation.summary
  static override description =
    `The agent has the capabilities configured for all agents, the capabilities of this machine, and the labels of --label.
It exists until it is retired.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> builder --label pool=dev',
    '<%= config.bin %> <%= command.id %> reviewer --parent builder --model run-7',
  ]
  static override args = operationArgs(spawnAgent)
  static override flags = operationFlags(spawnAgent)

  async run(): Promise<void> {
    const {agent} = await this.perform<{agent: Agent}>(spawnAgent)
    await this.output.result(agent, agentLine)
  }
}
