import {formatAgents, OrchCommand} from '../../src/cli/index.js'

export default class OrchAgents extends OrchCommand<typeof OrchAgents> {
  static override summary = 'List the agents and what each has to do.'
  static override description = 'Agents that are retired are not listed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq \'.agents[] | select(.state == "paused").name\'',
  ]

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    await this.output.result({agents: room.listAgents(orchestrator)}, ({agents}) => formatAgents(agents))
  }
}
