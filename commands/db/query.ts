import {Args, Flags} from '@oclif/core'
import {DbCommand, databaseFlag, onlyProgramFlag, runQuery} from '../../src/cli/index.js'

export default class DbQuery extends DbCommand<typeof DbQuery> {
  static override summary = 'Query the database with an expression or SQL.'
  static override description =
    `The expression is checked against the program, can call its functions, and must be read-only. --sql runs one SQL
statement instead, on a read-only connection. The result is printed as JSON.`
  static override examples = [
    `<%= config.bin %> <%= command.id %> 'db.Task.where({ done: false }).limit(5)'`,
    `<%= config.bin %> <%= command.id %> --sql 'SELECT count(*) AS n FROM task'`,
  ]
  static override args = {
    expression: Args.string({description: 'Expression of the data language, or SQL with --sql.', required: true}),
  }
  static override flags = {
    ...databaseFlag,
    ...onlyProgramFlag,
    sql: Flags.boolean({description: 'Treat the input as SQL.'}),
  }

  async run(): Promise<void> {
    const {path, source} = await this.#target()
    const value = await runQuery(this.args.expression, {path, source, ports: this.ports()})
    await this.output.result(value, (json) => JSON.stringify(json, null, 2))
  }

  async #target(): Promise<{path: string; source: string | undefined}> {
    if (this.flags.sql) return {path: this.existingDatabase(), source: undefined}
    this.existingDatabase()
    const {program, source} = await this.readProgram()
    return {path: await this.readableDatabase(program), source: source.text}
  }
}
