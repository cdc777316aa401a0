import {Flags} from '@oclif/core'
import {claimFlag, OrchCommand, taskArg} from '../../src/cli/index.js'

export default class OrchFail extends OrchCommand<typeof OrchFail> {
  static override summary = 'Fail a task that is in progress.'
  static override description = 'The tasks that wait for it fail too; svc orch retry --dependants tries them all again.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 --claim 1 -r "the tests do not pass"']
  static override args = {id: taskArg}
  static override flags = {
    reason: Flags.string({char: 'r', description: 'What went wrong.', required: true, helpValue: 'TEXT'}),
    claim: claimFlag,
  }

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const {reason, claim: generation} = this.flags
    await this.printTask(room.failTask(orchestrator, this.args.id, reason, {generation}))
  }
}
