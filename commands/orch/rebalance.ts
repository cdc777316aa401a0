import {OrchCommand} from '../../src/cli/index.js'
import type {OrchRebalanceV1} from '../../src/contracts/index.js'

export default class OrchRebalance extends OrchCommand<typeof OrchRebalance> {
  static override summary = 'Move waiting tasks from busy agents to others.'
  static override description = 'What is being run stays, and so does a task whose files another agent has.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const moves = room.rebalance(orchestrator).map(({taskId, from, to}) => ({
      task_id: taskId,
      display_id: room.displayTask(taskId),
      from_agent_id: from,
      to_agent_id: to,
    }))
    const result: OrchRebalanceV1 = {moves}
    await this.output.result(result, () =>
      moves.length === 0
        ? 'Nothing to move.'
        : moves
            .map(({display_id, from_agent_id: from, to_agent_id: to}) => {
              return `${display_id} from ${room.displayAgent(from)} to ${room.displayAgent(to)}\n`
            })
            .join(''),
    )
  }
}
