import {DbCommand, programArg, programFlag} from '../../src/cli/index.js'

export default class DbDdl extends DbCommand<typeof DbDdl> {
  static override summary = 'Show the SQL schema (DDL) of a program.'
  static override examples = ['<%= config.bin %> <%= command.id %> examples/todo.svc | sqlite3 todo.db']
  static override args = {file: programArg}
  static override flags = programFlag

  async run(): Promise<void> {
    const {ddl} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram()
    await this.output.result(ddl(program), (statements) => statements.map((sql) => `${sql}\n`).join(''))
  }
}
