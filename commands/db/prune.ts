import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, storeFlag} from '../../src/cli/index.js'
import type {DbPruneV1} from '../../src/contracts/index.js'

export default class DbPrune extends DbCommand<typeof DbPrune> {
  static override summary = 'Delete old rows of the change log, or old metrics.'
  static override description =
    `Without --apply only what would go is counted. A subscriber that was away for longer than the change log reaches back
misses what was deleted. Finished tasks are removed by svc orch prune.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --change-log-days 30',
    '<%= config.bin %> <%= command.id %> --change-log-days 30 --apply',
  ]
  static override flags = {
    ...databaseFlag,
    ...storeFlag,
    'change-log-days': Flags.integer({description: 'Keep changes of so many days.', default: 30, min: 0}),
    'metrics-days': Flags.integer({description: 'With --store: keep metrics of so many days.', default: 90, min: 0}),
    apply: Flags.boolean({description: 'Delete them.'}),
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
      () => `${rows} rows older than ${days} days ${apply ? 'deleted' : 'would go; add --apply'}\n`,
    )
  }
}
