import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, programArg, programFlag, waitFlag} from '../../src/cli/index.js'
import type {DbResetV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class DbReset extends DbCommand<typeof DbReset> {
  static override summary = 'Reset the database, keeping a backup.'
  static override description =
    `Keeps the database file as a backup, and creates a new one with empty tables for the program. Fails with status 4
while another process, such as svc db serve, uses the database.`
  static override examples = ['<%= config.bin %> <%= command.id %> --yes']
  static override args = {file: programArg}
  static override flags = {
    ...databaseFlag,
    ...programFlag,
    ...waitFlag,
    yes: Flags.boolean({char: 'y', description: 'Confirm the reset; without it, the command fails.'}),
  }

  async run(): Promise<void> {
    if (!this.flags.yes) throw new SvcError('unconfirmed', {what: 'The reset'})
    const {program} = await this.readProgram()
    const [{replaceDatabase}, {appDatabase, migrate}] = await Promise.all([
      import('../../src/store/index.js'),
      import('../../src/lang/index.js'),
    ])
    const path = this.databasePath
    if (path === ':memory:') throw new SvcError('database_missing', {path})
    const backup = await replaceDatabase(path, {
      write: async (file) => void (await migrate(program, file)),
      kind: appDatabase,
      isDefaultPath: path === this.defaultDatabasePath,
      wait: this.waiting,
    })
    const result: DbResetV1 = {database: path, backup}
    await this.output.result(result, () => `${path} is empty.${backup === null ? '' : ` Backup: ${backup}`}\n`)
  }
}
