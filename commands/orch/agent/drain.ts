import {OperationCommand, operationArgs} from '../../../src/cli/index.js'
import type {OrchEmptiedV1} from '../../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const drainAgent = commandCall(operationNamed('drain_agent'))

export default class OrchAgentDrain extends OperationCommand<typeof OrchAgentDrain> {
  static override summary = drainAgent.operation.summary
  static override description = 'The agent finishes its running task. Fails if no other agent can run its queued tasks.'
  static override examples = ['<%= config.bin %> <%= command.id %> builder']
  static override args = operationArgs(drainAgent)

  async run(): Promise<void> {
    const {drained_count: _, ...emptied} = await this.perform<OrchEmptiedV1 & {drained_count: number}>(drainAgent)
    await this.printEmptied(emptied)
  }
}
