import {Args, Flags} from '@oclif/core'
import {DbCommand, databaseFlag, programFlag, runQuery} from '../../src/cli/index.js'

export default class DbQuery extends DbCommand<typeof DbQuery> {
  static override summary = 'Evaluate an expression on the database.'
  static override description =
    `An expression of the data language, checked against the program, which may use its functions and only reads. --sql takes
one statement of SQL instead, on a connection that cannot write.`
  static override examples = [
    `<%= config.bin %> <%= command.id %> 'db.Task.where({ done: false }).limit(5)'`,
    `<%= config.bin %> <%= command.id %> --sql 'SELECT count(*) AS n FROM task'`,
  ]
  static override args = {expression: Args.string({description: 'The expression.', required: true})}
  static override flags = {
    ...databaseFlag,
    ...programFlag,
    sql: Flags.boolean({description: 'Read SQL.'}),
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
