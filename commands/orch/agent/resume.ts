import {agentLine, OperationCommand, operationArgs} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {Agent} from '../../../src/tasks/index.js'

const resumeAgent = commandCall(operationNamed('resume_agent'))

export default class OrchAgentResume extends OperationCommand<typeof OrchAgentResume> {
  static override summary = resumeAgent.operation.summary
  static override examples = ['<%= config.bin %> <%= command.id %> builder']
  static override args = operationArgs(resumeAgent)

  async run(): Promise<void> {
    const {agent} = await this.perform<{agent: Agent}>(resumeAgent)
    await this.output.result(agent, agentLine)
  }
}
