import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, programArg, programFlag, storeFlag} from '../../src/cli/index.js'

export default class DbExport extends DbCommand<typeof DbExport> {
  static override summary = 'Export all rows as JSON Lines.'
  static override description =
    `Prints one line per row, with its _id: {"table": "Task", "record": {…}}. If later rows were deleted, a line with the
last_id of the table follows, so that their ids are not assigned again. svc db import reads this format.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> > backup.jsonl',
    '<%= config.bin %> <%= command.id %> --table Task | jq .record',
  ]
  static override args = {file: programArg}
  static override flags = {
    ...databaseFlag,
    ...programFlag,
    ...storeFlag,
    table: Flags.string({char: 't', description: 'Export only this table.'}),
  }

  async run(): Promise<void> {
    const {table: tableName} = this.flags
    if (this.flags.store) {
      const {exportRows} = await import('../../src/store/index.js')
      for await (const row of exportRows(await this.existingStore(), tableName)) await this.output.line(row)
      return
    }
    const [{connect, readRecords}, {lastAssigned}] = await Promise.all([
      import('../../src/lang/index.js'),
      import('../../src/store/index.js'),
    ])
    const {program} = await this.readProgram()
    const tables = tableName === undefined ? program.tables : [this.tableOf(program, tableName)]
    const connection = await connect(program, await this.readableDatabase(program), true)
    try {
      connection.begin('deferred')
      for (const table of tables) {
        let largest = 0
        for (const record of readRecords(table, connection)) {
          largest = (record as {_id: number})._id
          await this.output.line({table: table.name, record})
        }
        // Ids of deleted rows must not be assigned again.
        const last = lastAssigned(connection.database, table.sqlName)
        if (last > largest) await this.output.line({table: table.name, last_id: last})
      }
      connection.rollback()
    } finally {
      connection.close()
    }
  }
}
