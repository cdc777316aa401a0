import {Flags} from '@oclif/core'
import {OrchCommand, taskArg} from '../../src/cli/index.js'

export default class OrchCancel extends OrchCommand<typeof OrchCancel> {
  static override summary = 'Cancel a task.'
  static override description =
    'A run of it is ended. The tasks that wait for it fail. What is cancelled cannot be tried again.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 -r "done by hand"']
  static override args = {id: taskArg}
  static override flags = {reason: Flags.string({char: 'r', description: 'Why.', helpValue: 'TEXT'})}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    await this.printTask(room.cancelTask(orchestrator, this.args.id, this.flags.reason))
  }
}
