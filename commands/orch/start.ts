import {OperationCommand} from '../../src/cli/index.js'
import type {OrchStartV1} from '../../src/contracts/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const startOrchestrator = commandCall(operationNamed('start_orchestrator'))

export default class OrchStart extends OperationCommand<typeof OrchStart> {
  static override summary = startOrchestrator.operation.summary
  static override description = 'Does not start the daemon; for that, run svc daemon start.'
  static override examples = ['<%= config.bin %> <%= command.id %>']

  async run(): Promise<void> {
    const {was_stopped} = await this.perform<OrchStartV1>(startOrchestrator)
    await this.output.result({was_stopped}, () =>
      was_stopped ? 'Tasks are accepted and started again.' : 'There was no emergency stop.',
    )
  }
}
