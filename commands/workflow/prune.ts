import {Flags} from '@oclif/core'
import {durationFlag, OrchCommand} from '../../src/cli/index.js'
import {counted} from '../../src/errors/index.js'

export default class WorkflowPrune extends OrchCommand<typeof WorkflowPrune> {
  static override summary = 'Delete old runs that have ended.'
  static override description =
    `Deletes completed and cancelled runs, and failed runs whose completed steps were undone, with their results and signals.
Runs that wait or can be resumed are kept. The daemon deletes runs in the same way. To shrink the store file, run svc db
vacuum --store.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --older-than 7d --failed',
  ]
  static override flags = {
    'older-than': durationFlag({
      description: 'Minimum time since the runs ended, such as 7d; default: orchestrator.workflow_retention_days.',
    }),
    failed: Flags.boolean({description: 'Also delete failed runs, which could be resumed.'}),
    'dry-run': Flags.boolean({description: 'Count the runs without deleting them.'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {'older-than': olderThanMs, failed, 'dry-run': dryRun = false} = this.flags
    const removed = modules.workflows.pruneRuns(orchestrator, {olderThanMs, failed, dryRun})
    const outcome = dryRun ? 'would be deleted' : 'deleted'
    await this.output.result({dry_run: dryRun, removed}, () => `${counted(removed, 'run')} ${outcome}`)
  }
}
