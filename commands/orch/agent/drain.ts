import {agentArg, OrchCommand} from '../../../src/cli/index.js'

export default class OrchAgentDrain extends OrchCommand<typeof OrchAgentDrain> {
  static override summary = 'Give the waiting tasks of an agent to others, and pause it.'
  static override description = 'What it runs it ends. Refused where no other agent could take its tasks.'
  static override examples = ['<%= config.bin %> <%= command.id %> builder']
  static override args = {agent: agentArg}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    await this.printEmptied(room, room.drainAgent(orchestrator, this.args.agent))
  }
}
