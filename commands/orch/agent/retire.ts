import {OperationCommand, operationArgs} from '../../../src/cli/index.js'
import type {OrchEmptiedV1} from '../../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const retireAgent = commandCall(operationNamed('retire_agent'))

export default class OrchAgentRetire extends OperationCommand<typeof OrchAgentRetire> {
  static override summary = retireAgent.operation.summary
  static override description =
    `The tasks of the agent, including its running task, are requeued on other agents. Fails if no other agent can run them.`
  static override examples = ['<%= config.bin %> <%= command.id %> builder']
  static override args = operationArgs(retireAgent)

  async run(): Promise<void> {
    const {remaining_tasks: _, ...emptied} = await this.perform<OrchEmptiedV1 & {remaining_tasks: number}>(retireAgent)
    await this.printEmptied(emptied)
  }
}
