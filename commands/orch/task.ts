import {formatTask, OrchCommand, taskArg} from '../../src/cli/index.js'

export default class OrchTask extends OrchCommand<typeof OrchTask> {
  static override summary = 'Show a task: how it stands, what it asks for, what came of it.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042',
    '<%= config.bin %> <%= command.id %> 42 --json | jq -r .result.text',
  ]
  static override args = {id: taskArg}

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    await this.output.result(room.requireTask(orchestrator, this.args.id), formatTask)
  }
}
