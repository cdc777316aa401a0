import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, storeFlag} from '../../src/cli/index.js'
import type {DbPruneV1} from '../../src/contracts/index.js'

export default class DbPrune extends DbCommand<typeof DbPrune> {
  static override summary = 'Delete old change log entries or metrics.'
  static override description =
    `By default, only counts the rows; --apply deletes them. A subscriber that was offline for longer than the retention
misses the deleted changes. To delete finished tasks, use svc orch prune.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --change-log-days 30',
    '<%= config.bin %> <%= command.id %> --change-log-days 30 --apply',
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
      description: 'Retention of metrics in days, with --store.',
      default: 90,
      min: 0,
      helpValue: 'N',
    }),
    apply: Flags.boolean({description: 'Delete the rows instead of counting them.'}),
  }

  async run(): Promise<void> {
    const {pruneRecords} = await import('../../src/store/index.js')
    const {store, apply = false} = this.flags
    const path = store ? this.existingStore() : this.existingDatabase()
    const table = store ? 'research_metrics' : 'codex_change_log'
    const days = store ? this.flags['metrics-days'] : this.flags['change-log-days']
    const rows = await pruneRecords(path, {table, days, apply})
    const result: DbPruneV1 = {database: path, table, days, rows, applied: apply}
    await this.output.result(
      result,
      () => `${rows} rows older than ${days} days ${apply ? 'deleted' : 'would be deleted; add --apply'}\n`,
    )
  }
}
