import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, formatTable, storeFlag} from '../../src/cli/index.js'
import {orchestratorSettings} from '../../src/config/index.js'
import type {DbPruneV1} from '../../src/contracts/index.js'
import {counted} from '../../src/errors/index.js'

export default class DbPrune extends DbCommand<typeof DbPrune> {
  static override summary = 'Delete old change log entries, or old store rows.'
  static override description =
    `By default, only counts the rows; --apply deletes them. A subscriber that was offline for longer than the retention
misses the deleted changes. With --store, applies contracts/db/retention-policy.yaml to all tables of the workspace store
in one transaction. To delete finished tasks, use svc orch prune.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --change-log-days 30',
    '<%= config.bin %> <%= command.id %> --store --apply',
  ]
  static override flags = {
    ...databaseFlag,
    ...storeFlag,
    'change-log-days': Flags.integer({
      description: 'Retention of the change log in days.',
      default: 30,
      min: 0,
      helpValue: 'N',
    }),
    'metrics-days': Flags.integer({
      description: 'Retention of metrics in days, with --store; default: the policy.',
      min: 0,
      helpValue: 'N',
    }),
    apply: Flags.boolean({description: 'Delete the rows instead of counting them.'}),
  }

  async run(): Promise<void> {
    await (this.flags.store ? this.#pruneStore() : this.#pruneChangeLog())
  }

  async #pruneChangeLog(): Promise<void> {
    const {pruneTables} = await import('../../src/store/index.js')
    const {apply = false, 'change-log-days': days} = this.flags
    const database = this.existingDatabase()
    const table = 'codex_change_log'
    const rules = {[table]: {kind: 'days', days, time_column: 'created_at'}} as const
    const rows = sumRows(await pruneTables(database, rules, {apply}))
    const result: DbPruneV1 = {database, table, days, rows, applied: apply}
    await this.output.result(
      result,
      () => `${counted(rows, 'row')} older than ${counted(days, 'day')} ${outcome(apply)}\n`,
    )
  }

  async #pruneStore(): Promise<void> {
    const [{pruneTables}, {readRetentionPolicy}] = await Promise.all([
      import('../../src/store/index.js'),
      import('../../src/contracts/index.js'),
    ])
    const {apply = false, 'metrics-days': metricsDays} = this.flags
    const {tables: rules} = await readRetentionPolicy()
    const metrics = 'research_metrics'
    if (metricsDays !== undefined) rules[metrics] = {kind: 'days', days: metricsDays, time_column: 'created_at'}
    const {workflow_run_log: runs} = rules
    if (runs !== undefined && 'days' in runs) runs.days = this.settings(orchestratorSettings).workflowRetentionDays
    const database = await this.existingStore()
    const tables = await pruneTables(database, rules, {apply})
    if (apply) await removeOutput(database)
    const {days, rows} = tables.find(({table}) => table === metrics) ?? {days: null, rows: 0}
    const result: DbPruneV1 = {database, table: metrics, days: days ?? 0, rows, tables, applied: apply}
    const cells = tables.map(({table, kind, days: age, rows: old}) => [table, kind, String(age ?? '-'), String(old)])
    await this.output.result(
      result,
      () =>
        `${formatTable(['TABLE', 'KIND', 'DAYS', 'ROWS'], cells, this.view)}${counted(sumRows(tables), 'row')} ${outcome(apply)}\n`,
    )
  }
}

/** Deletes the files of workflow runs that were deleted. */
async function removeOutput(path: string): Promise<void> {
  const [{openStore}, {removeOrphanedOutput}] = await Promise.all([
    import('../../src/store/index.js'),
    import('../../src/workflow/index.js'),
  ])
  const store = await openStore(path, [])
  try {
    removeOrphanedOutput(store)
  } finally {
    store.close()
  }
}

const sumRows = (tables: readonly {rows: number}[]) => tables.reduce((sum, {rows}) => sum + rows, 0)

const outcome = (applied: boolean) => (applied ? 'deleted' : 'would be deleted; add --apply')
