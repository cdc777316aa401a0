import {agentArg, agentLine, OrchCommand} from '../../../src/cli/index.js'

export default class OrchAgentPause extends OrchCommand<typeof OrchAgentPause> {
  static override summary = 'Let an agent start no more tasks; what it runs it ends.'
  static override examples = ['<%= config.bin %> <%= command.id %> builder']
  static override args = {agent: agentArg}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const row = room.setPaused(orchestrator, this.args.agent, true)
    await this.output.result(room.toAgent(orchestrator, row), agentLine)
  }
}
