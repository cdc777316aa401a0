import {Flags} from '@oclif/core'
import {formatStatus, OrchCommand} from '../../src/cli/index.js'

export default class OrchStatus extends OrchCommand<typeof OrchStatus> {
  static override summary = 'Show how the tasks and agents of the workspace stand.'
  static override description =
    `Says where tasks are kept, whether a daemon runs them, how many there are in each state, and what each agent has to do.
With --watch it is shown anew whenever something has changed, with --json as one value per line, until it is interrupted.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --watch',
    '<%= config.bin %> <%= command.id %> --json | jq .total_queued',
  ]
  static override flags = {watch: Flags.boolean({char: 'w', description: 'Go on, and show what changes.'})}

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const read = () => modules.reportStatus(orchestrator)
    if (this.flags.watch) await this.watch(read, formatStatus)
    else await this.output.result(read(), formatStatus)
  }
}
