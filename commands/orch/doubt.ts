import {Flags} from '@oclif/core'
import {OrchCommand, taskArg} from '../../src/cli/index.js'

export default class OrchDoubt extends OrchCommand<typeof OrchDoubt> {
  static override summary = 'Call a task into doubt, until a person has looked at it.'
  static override description =
    `The task goes to the agent named resolution, and a run of it is ended. Answer with svc orch resolve, or take the task as
done with svc orch overrule.`
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 -r "the requirements contradict each other"']
  static override args = {id: taskArg}
  static override flags = {reason: Flags.string({char: 'r', description: 'What is in doubt.', helpValue: 'TEXT'})}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    await this.printTask(room.doubtTask(orchestrator, this.args.id, this.flags.reason))
  }
}
