import {Flags} from '@oclif/core'
import {formatStatus, OrchCommand} from '../../src/cli/index.js'
import type {StatusReport} from '../../src/orchestrator/index.js'

export default class OrchStatus extends OrchCommand<typeof OrchStatus> {
  static override summary = 'Show task and agent status.'
  static override description =
    `Shows the store, the daemon, the number of tasks by status, and the load of each agent. --watch updates the view on
every change until interrupted; with --json it prints one object per line.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --watch',
    '<%= config.bin %> <%= command.id %> --json | jq .total_queued',
  ]
  static override flags = {
    watch: Flags.boolean({char: 'w', description: 'Update the output on every change until interrupted.'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const read = () => modules.reportStatus(orchestrator)
    const format = (report: StatusReport) => formatStatus(report, this.view)
    if (this.flags.watch) await this.watch(read, format)
    else await this.output.result(read(), format)
  }
}
