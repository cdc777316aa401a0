import {OrchCommand, taskArg} from '../../src/cli/index.js'

export default class OrchApprove extends OrchCommand<typeof OrchApprove> {
  static override summary = 'Consent to a task that waits for it.'
  static override description = 'The task is queued, or waits for the tasks that it depends on.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042']
  static override args = {id: taskArg}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    await this.printTask(room.approveTask(orchestrator, this.args.id))
  }
}
