import {Flags} from '@oclif/core'
import {durationFlag, OrchCommand, statusFlag} from '../../src/cli/index.js'
import type {OrchPruneV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {FinishedStatus} from '../../src/tasks/index.js'

export default class OrchPrune extends OrchCommand<typeof OrchPrune> {
  static override summary = 'Remove tasks that finished long ago.'
  static override description =
    `Removes completed, failed and cancelled tasks with their events, their output and their entries in svc orch oplog. It asks
for no confirmation; --dry-run counts what would be removed. A task stays while a task that is not over, or a failed one
that stays, depends on it, while its plan or another task of its journey is not over, and while its command is being ended.

Ids are not used again. The idempotency key of a removed task is free: submitted under it, a task is a new one. The file of
the store shrinks with svc db vacuum --store.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --older-than 30d',
    '<%= config.bin %> <%= command.id %> --older-than 7d --status completed --status cancelled --dry-run',
  ]
  static override flags = {
    'older-than': durationFlag({description: 'Only tasks that finished longer ago than this.', required: true}),
    status: statusFlag({
      description: 'Only tasks in this state: completed, failed or cancelled; may be repeated.',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'dry-run': Flags.boolean({description: 'Count what would be removed, and remove nothing.'}),
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

/** Why tasks stay, after their number. */
const reasons = {
  dependency: 'that other tasks may still need',
  plan: 'of a plan that is not over',
  journey: 'of a journey that is not over',
  run: 'whose command is being ended',
}

function formatPruned({dry_run: isDryRun, removed, kept}: OrchPruneV1): string {
  const stay = Object.entries(reasons)
    .map(([reason, text]) => ({count: kept[reason as keyof typeof reasons], text}))
    .filter(({count}) => count > 0)
    .map(({count, text}) => `${tasks(count)} kept ${text}\n`)
  return `${tasks(removed)} ${isDryRun ? 'would be removed' : 'removed'}\n${stay.join('')}`
}

const tasks = (count: number): string => (count === 1 ? '1 task' : `${count} tasks`)
