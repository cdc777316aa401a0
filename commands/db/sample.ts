import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, programArg, programFlag} from '../../src/cli/index.js'

export default class DbSample extends DbCommand<typeof DbSample> {
  static override summary = 'Show rows of a table as JSON Lines.'
  static override examples = ['<%= config.bin %> <%= command.id %> --table Task --limit 3']
  static override args = {file: programArg}
  static override flags = {
    ...databaseFlag,
    ...programFlag,
    table: Flags.string({char: 't', description: 'Table name.', required: true}),
    limit: Flags.integer({description: 'Maximum number of rows.', default: 10, min: 0, helpValue: 'N'}),
  }

  async run(): Promise<void> {
    const {connect, readRecords} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram()
    const table = this.tableOf(program, this.flags.table)
    const connection = await connect(program, await this.readableDatabase(program), true)
    try {
      for (const record of readRecords(table, connection, this.flags.limit)) await this.output.line(record)
    } finally {
      connection.close()
    }
  }
}
