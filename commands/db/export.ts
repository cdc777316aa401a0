import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, programArg, programFlag, storeFlag} from '../../src/cli/index.js'

export default class DbExport extends DbCommand<typeof DbExport> {
  static override summary = 'Export all rows as JSON Lines.'
  static override description =
    `Prints one line per row, with its _id: {"table": "Task", "record": {…}}. svc db import reads this format.`
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
      for await (const row of exportRows(this.existingStore(), tableName)) await this.output.line(row)
      return
    }
    const {connect, readRecords} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram()
    const tables = tableName === undefined ? program.tables : [this.tableOf(program, tableName)]
    const connection = await connect(program, await this.readableDatabase(program), true)
    try {
      connection.begin('deferred')
      for (const table of tables)
        for (const record of readRecords(table, connection)) await this.output.line({table: table.name, record})
      connection.rollback()
    } finally {
      connection.close()
    }
  }
}
