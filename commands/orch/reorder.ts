import {Args} from '@oclif/core'
import {OrchCommand, taskArg} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {Priority} from '../../src/orchestrator/index.js'

const priorityArg = Args.custom<Priority>({
  parse: async (value) => {
    const {priorities} = await import('../../src/orchestrator/index.js')
    const found = priorities.find((priority) => priority === value.trim().toLowerCase())
    if (found !== undefined) return found
    throw new SvcError('flag_value', {flag: 'PRIORITY', value, expected: `one of ${priorities.join(', ')}`})
  },
})

export default class OrchReorder extends OrchCommand<typeof OrchReorder> {
  static override summary = 'Give a waiting task another priority.'
  static override description = 'Urgent tasks are run before normal ones, and these before tasks of the background.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 urgent']
  static override args = {
    id: taskArg,
    priority: priorityArg({description: 'background, normal or urgent.', required: true}),
  }

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const {id, priority} = this.args
    await this.printTask(room.reorderTask(orchestrator, id, priority))
  }
}
