import {Flags} from '@oclif/core'
import {durationFlag, OrchCommand} from '../../src/cli/index.js'

const dayMs = 86_400_000

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
    const {'older-than': age, failed, 'dry-run': dryRun = false} = this.flags
    const olderThanMs = age ?? orchestrator.config.workflowRetentionDays * dayMs
    const removed = modules.workflows.pruneRuns(orchestrator, {olderThanMs, failed, dryRun})
    const runs = removed === 1 ? '1 run' : `${removed} runs`
    await this.output.result({dry_run: dryRun, removed}, () => `${runs} ${dryRun ? 'would be deleted' : 'deleted'}`)
  }
}
