import {Flags} from '@oclif/core'
import {OrchCommand, taskArg, taskLine} from '../../src/cli/index.js'

export default class OrchRetry extends OrchCommand<typeof OrchRetry> {
  static override summary = 'Try a failed task again.'
  static override description =
    'It is queued at its old place; where it depends on tasks, these must be completed first.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042',
    '<%= config.bin %> <%= command.id %> T-0042 --dependants --json',
  ]
  static override args = {id: taskArg}
  static override flags = {
    dependants: Flags.boolean({description: 'Also the tasks that failed because this one did.'}),
  }

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const {dependants} = this.flags
    const tasks = room.retryTask(orchestrator, this.args.id, {dependants})
    await this.output.result({tasks}, () => tasks.map((task) => `${taskLine(task)}\n`).join(''))
  }
}
