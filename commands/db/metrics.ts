import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, formatTable, storeFlag} from '../../src/cli/index.js'
import type {DbMetricsV1} from '../../src/contracts/index.js'

export default class DbMetrics extends DbCommand<typeof DbMetrics> {
  static override summary = 'Count change log entries or metrics.'
  static override description =
    `Counts the entries in the change log of the database by topic and kind. With --store, counts the metrics in the
workspace store by session and kind.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --store --type benchmark_event',
  ]
  static override flags = {
    ...databaseFlag,
    ...storeFlag,
    session: Flags.string({
      description: 'Count only this session; requires --store.',
      helpValue: 'ID',
      dependsOn: ['store'],
    }),
    type: Flags.string({description: 'Count only this kind.', helpValue: 'KIND'}),
  }

  async run(): Promise<void> {
    const {countRecords} = await import('../../src/store/index.js')
    const {session, type, store} = this.flags
    const result: DbMetricsV1 = store
      ? await countRecords(
          await this.existingStore(),
          {table: 'research_metrics', group: 'session_id', kind: 'metric_type'},
          {group: session, kind: type},
        )
      : await countRecords(
          this.existingDatabase(),
          {table: 'codex_change_log', group: 'topic', kind: 'change_kind'},
          {group: undefined, kind: type},
        )
    const rows = result.map(({group, kind, count, first_at: first, last_at: last}) => [
      group,
      kind,
      String(count),
      first,
      last,
    ])
    await this.output.result(result, () =>
      formatTable([store ? 'SESSION' : 'TOPIC', 'KIND', 'COUNT', 'FIRST', 'LAST'], rows, this.view),
    )
  }
}
