import {Flags} from '@oclif/core'
import {durationFlag, OrchCommand, statusFlag} from '../../src/cli/index.js'
import type {OrchPruneV1} from '../../src/contracts/index.js'
import {counted, SvcError} from '../../src/errors/index.js'
import type {FinishedStatus} from '../../src/tasks/index.js'

export default class OrchPrune extends OrchCommand<typeof OrchPrune> {
  static override summary = 'Delete old finished tasks.'
  static override description =
    `Deletes completed, failed and cancelled tasks with their events, output and entries in svc orch oplog, without
confirmation. A task is kept if a task that depends on it is unfinished, or is failed and itself kept. It is also kept
while its plan or another task of its journey is unfinished, or while its command is being stopped.

Task ids are not reused, but the idempotency key of a deleted task can be used again. To shrink the store file, run svc
db vacuum --store.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --older-than 30d',
    '<%= config.bin %> <%= command.id %> --older-than 7d --status completed --status cancelled --dry-run',
  ]
  static override flags = {
    'older-than': durationFlag({description: 'Minimum time since the tasks finished, such as 7d.', required: true}),
    status: statusFlag({
      description: 'Only tasks with this status: completed, failed or cancelled; may be repeated.',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'dry-run': Flags.boolean({description: 'Count the tasks without deleting them.'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {'older-than': olderThanMs, status, 'dry-run': dryRun} = this.flags
    for (const value of status ?? [])
      if (!modules.tasks.finishedStatuses.includes(value as FinishedStatus))
        throw new SvcError('flag_value', {flag: '--status', value, expected: 'completed, failed or cancelled'})
    const pruned = modules.tasks.pruneTasks(orchestrator, {
      olderThanMs,
      status: status as FinishedStatus[] | undefined,
      dryRun,
    })
    await this.output.result(pruned satisfies OrchPruneV1, formatPruned)
  }
}

/** Why tasks are kept. */
const reasons = {
  dependency: 'other tasks depend on them',
  plan: 'their plan is unfinished',
  journey: 'their journey is unfinished',
  run: 'their command is being stopped',
}

function formatPruned({dry_run: isDryRun, removed, kept}: OrchPruneV1): string {
  const keptLines = Object.entries(reasons)
    .map(([reason, text]) => ({count: kept[reason as keyof typeof reasons], text}))
    .filter(({count}) => count > 0)
    .map(({count, text}) => `${tasks(count)} kept: ${text}\n`)
  return `${tasks(removed)} ${isDryRun ? 'would be deleted' : 'deleted'}\n${keptLines.join('')}`
}

const tasks = (count: number): string => counted(count, 'task')
