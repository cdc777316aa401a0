import {agentArg, OrchCommand} from '../../../src/cli/index.js'

export default class OrchAgentRetire extends OrchCommand<typeof OrchAgentRetire> {
  static override summary = 'End an agent, and give its tasks to others.'
  static override description =
    'What it runs is queued again with another agent. Refused where no other agent could take its tasks.'
  static override examples = ['<%= config.bin %> <%= command.id %> builder']
  static override args = {agent: agentArg}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    await this.printEmptied(room, room.retireAgent(orchestrator, this.args.agent))
  }
}
