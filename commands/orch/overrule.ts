import {Flags} from '@oclif/core'
import {OrchCommand, taskArg} from '../../src/cli/index.js'

export default class OrchOverrule extends OrchCommand<typeof OrchOverrule> {
  static override summary = 'Take a doubted task as done, whatever the doubt.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 -r "good enough for the demo"']
  static override args = {id: taskArg}
  static override flags = {reason: Flags.string({char: 'r', description: 'Why.', helpValue: 'TEXT'})}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    await this.printTask(room.overruleDoubt(orchestrator, this.args.id, this.flags.reason))
  }
}
