import {agentArg, agentLine, OrchCommand} from '../../../src/cli/index.js'

export default class OrchAgentResume extends OrchCommand<typeof OrchAgentResume> {
  static override summary = 'Let a paused agent go on.'
  static override examples = ['<%= config.bin %> <%= command.id %> builder']
  static override args = {agent: agentArg}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const row = room.setPaused(orchestrator, this.args.agent, false)
    await this.output.result(room.toAgent(orchestrator, row), agentLine)
  }
}
