import {DbCommand, databaseFlag, formatTable, programArg, programFlag, storeFlag} from '../../src/cli/index.js'
import type {DbStatusV1} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'

export default class DbStatus extends DbCommand<typeof DbStatus> {
  static override summary = 'Show database size, tables and pending migration steps.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --store --json',
  ]
  static override args = {file: programArg}
  static override flags = {...databaseFlag, ...programFlag, ...storeFlag}

  async run(): Promise<void> {
    const path = this.flags.store ? await this.existingStore() : this.existingDatabase()
    const {describeDatabase} = await import('../../src/store/index.js')
    const facts = await describeDatabase(path)
    const result: DbStatusV1 = {...facts, pending: this.flags.store ? [] : await this.#pending(path)}
    await this.output.result(result, asText)
  }

  /** The steps of a migration; none if there is no program at the default path. */
  async #pending(path: string): Promise<DbStatusV1['pending']> {
    const {migrate} = await import('../../src/lang/index.js')
    try {
      const {program} = await this.readProgram()
      return (await migrate(program, path, {dryRun: true})).steps
    } catch (error) {
      if (this.programPaths[0] === undefined && isErrorOf(error, 'program_not_found')) return []
      throw error
    }
  }
}

function asText({
  file,
  size_bytes: size,
  journal_mode: mode,
  tables,
  pending,
  last_migration: last,
}: DbStatusV1): string {
  return `${file}, ${size} bytes, journal ${mode}
last migration: ${last === null ? 'none' : last.applied_at}
pending steps: ${pending.length === 0 ? 'none' : pending.map((step) => `${step.action} ${step.index ?? [step.table, step.column].filter(Boolean).join('.')}`).join(', ')}

${formatTable(
  ['TABLE', 'ROWS'],
  tables.map(({name, rows}) => [name, String(rows)]),
)}`
}
