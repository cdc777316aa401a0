import {Flags} from '@oclif/core'
import {claimFlag, OrchCommand, taskArg} from '../../src/cli/index.js'

export default class OrchComplete extends OrchCommand<typeof OrchComplete> {
  static override summary = 'Complete a task that is in progress.'
  static override description = 'Its files are free again, and the tasks that waited for it are queued.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042 --claim 1 --summary "Added, with a test"',
    'cat report.md | <%= config.bin %> <%= command.id %> T-0042 --summary -',
  ]
  static override args = {id: taskArg}
  static override flags = {
    summary: Flags.string({description: 'Its result; - reads it from standard input.', helpValue: 'TEXT'}),
    claim: claimFlag,
  }

  async run(): Promise<void> {
    const {summary, claim: generation} = this.flags
    const result = summary === undefined ? undefined : {text: await this.textOf(summary)}
    const {room, orchestrator} = await this.open()
    const {task} = room.completeTask(orchestrator, this.args.id, result, {generation})
    await this.printTask(task)
  }
}
