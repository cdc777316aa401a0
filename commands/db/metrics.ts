import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, formatTable, storeFlag} from '../../src/cli/index.js'
import type {DbMetricsV1} from '../../src/contracts/index.js'

export default class DbMetrics extends DbCommand<typeof DbMetrics> {
  static override summary = 'Count what was recorded: changes of an application, events of svc itself.'
  static override description =
    `Of the application's database, the change log by topic and kind; with --store the metrics that svc has recorded, by session
and type.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --store --type benchmark_event',
  ]
  static override flags = {
    ...databaseFlag,
    ...storeFlag,
    session: Flags.string({description: 'With --store: only this session.', dependsOn: ['store']}),
    type: Flags.string({description: 'Only this kind.', helpValue: 'KIND'}),
  }

  async run(): Promise<void> {
    const {countRecords} = await import('../../src/store/index.js')
    const {session, type, store} = this.flags
    const result: DbMetricsV1 = store
      ? await countRecords(
          this.existingStore(),
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
      formatTable([store ? 'SESSION' : 'TOPIC', 'KIND', 'COUNT', 'FIRST', 'LAST'], rows),
    )
  }
}
