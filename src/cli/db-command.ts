import {existsSync} from 'node:fs'
import {basename, isAbsolute, join, relative, resolve} from 'node:path'
import {Args, type Command, Flags} from '@oclif/core'
import {appSettings, workspaceSettings} from '../config/index.js'
import type {DbFilesV1} from '../contracts/index.js'
import {counted, isErrorOf, nearest, SvcError} from '../errors/index.js'
import {writeGenerated} from '../files/index.js'
import type {
  Diagnostic,
  InsertRecord,
  MigrationReport,
  Ports,
  Program,
  Step,
  Table,
  Transcription,
} from '../lang/index.js'
import {readInput} from './input.js'
import {settingFlags} from './setting-flags.js'
import {SpeechCommand} from './speech-command.js'
import {formatTable, type TableView, wrapped} from './table.js'
import {workspaceStore} from './workspace-store-path.js'

/** `--db FILE`, for commands that open a database. */
export const databaseFlag = settingFlags(appSettings, 'database')

/** `--store`: the store of svc itself instead of the database of the application. */
export const storeFlag = {
  store: Flags.boolean({
    description:
      'Use the store of the workspace (.svc/store.db, or workspace.journey_store) instead of the application database.',
  }),
}

/** `--wait`, for commands that need a database for themselves. */
export const waitFlag = {
  wait: Flags.boolean({description: 'Wait until no other process uses the database, instead of failing.'}),
}

/** The program of commands that name none, as `describe` of the setting flags prints it. */
const programDefault = '(default: src/main.svc; env: SVC_APP_PROGRAM)'

export const programArg = Args.string({description: `Program file; - reads standard input. ${programDefault}`})

export const programsArg = Args.string({
  description: `Program files; - reads standard input. ${programDefault}`,
  multiple: true,
})

const programFlagOf = (description: string) => ({
  program: Flags.string({char: 'p', description: `${description} ${programDefault}`, helpValue: 'FILE'}),
})

/** `--program FILE`, for commands that also accept the program as an argument. */
export const programFlag = programFlagOf('Program file, if not passed as an argument.')

/** `--program FILE`, for commands without an argument for the program. */
export const onlyProgramFlag = programFlagOf('Program file.')

/** Migration steps that are not necessary for reading rows. */
const indexSteps: ReadonlySet<string> = new Set(['create_index', 'drop_index'])

/** The source of a program. */
export interface Source {
  /** Path for messages, relative to the working directory. */
  path: string
  text: string
}

/** Base of commands that work on a program of the data language or on its database. */
export abstract class DbCommand<T extends typeof Command = typeof Command> extends SpeechCommand<T> {
  /** Programs on the command line; undefined: the program of the settings. @throws usage if argument and flag differ */
  protected get programPaths(): readonly (string | undefined)[] {
    const {file, files = file === undefined ? [] : [file]} = this.args as {file?: string; files?: string[]}
    const {program} = this.flags as {program?: string}
    const other = files.find((path) => program !== undefined && resolve(path) !== resolve(program))
    if (other === undefined) return files.length > 0 ? files : [program]
    throw new SvcError('usage', {reason: `The argument ${other} and --program ${program} name different programs.`})
  }

  /** Reads a program. @throws program_not_found, file_unreadable */
  protected async readSource(path: string | undefined): Promise<Source> {
    const program = path ?? this.settings(appSettings).program
    const file = path === undefined && !isAbsolute(program) ? join(this.workspace.root, program) : program
    if (file !== '-' && !existsSync(file)) throw new SvcError('program_not_found', {path: program})
    const bytes = await readInput(file, this.signal)
    return {
      path: file === '-' ? '<stdin>' : relative(process.cwd(), resolve(file)) || file,
      text: bytes.toString('utf8'),
    }
  }

  /** Reads and checks a program. @throws program_invalid after it printed the diagnostics */
  protected async readProgram(
    path: string | undefined = this.programPaths[0],
  ): Promise<{source: Source; program: Program}> {
    const source = await this.readSource(path)
    const {checkProgram} = await import('../lang/index.js')
    const program = checkProgram(source.text)
    if (program.hasErrors) await this.refuse(source, program.diagnostics)
    return {source, program}
  }

  /** Refuses decorators that promise to restrict access. @throws endpoint_auth_not_enforced */
  protected async requireEnforced({path}: Source, {source, decorators}: Program): Promise<void> {
    const {Lines, promisesProtection} = await import('../lang/index.js')
    const found = decorators.find(({text}) => promisesProtection(text))
    if (found === undefined) return
    const {line, col} = new Lines(source).at(found.start)
    throw new SvcError('endpoint_auth_not_enforced', {decorator: found.text, place: `${path}:${line}:${col}`})
  }

  /** Prints each name of a decorator without effect, because the program may rely on it, as on @cors or @rate_limit. */
  protected async noteDecorators({path}: Source, {source, decorators}: Program): Promise<void> {
    if (decorators.length === 0) return
    const {Lines} = await import('../lang/index.js')
    const lines = new Lines(source)
    const noted = new Set<string>()
    for (const {text, start} of decorators) {
      if (noted.has(text)) continue
      noted.add(text)
      this.output.notice(`warning: ${path}:${lines.at(start).line}: ${text} has no effect.`)
    }
  }

  /** Prints the errors of a program. @throws program_invalid */
  protected async refuse({path, text}: Source, diagnostics: readonly Diagnostic[]): Promise<never> {
    const {renderDiagnostics} = await import('../lang/index.js')
    const errors = diagnostics.filter(({severity}) => severity === 'error')
    process.stderr.write(`${renderDiagnostics(errors, path, text)}\n`)
    throw new SvcError('program_invalid', {path, errors: errors.length})
  }

  protected get defaultDatabasePath(): string {
    return join(this.workspace.root, '.svc', 'app.db')
  }

  /** The configured database; default: that of the workspace. */
  protected get databasePath(): string {
    const {database} = this.settings(appSettings)
    if (database === undefined) return this.defaultDatabasePath
    return database === ':memory:' ? database : resolve(database)
  }

  /** @throws database_missing */
  protected existingDatabase(): string {
    const path = this.databasePath
    if (!existsSync(path)) throw new SvcError('database_missing', {path})
    return path
  }

  /** The workspace store, which contains the data of svc itself. */
  protected storePath(): Promise<string> {
    return workspaceStore(this.workspace.root, this.settings(workspaceSettings))
  }

  /** @throws database_missing */
  protected async existingStore(): Promise<string> {
    const path = await this.storePath()
    if (!existsSync(path)) throw new SvcError('database_missing', {path})
    return path
  }

  /** Ends the wait of `--wait`; undefined without the flag. */
  protected get waiting(): AbortSignal | undefined {
    return (this.flags as {wait?: boolean}).wait === true ? this.signal : undefined
  }

  /** Finds a table by its name in the program or in SQL. @throws table_unknown */
  protected tableOf(program: Program, name: string): Table {
    const found = program.tables.find((table) => table.name === name || table.sqlName === name)
    if (found !== undefined) return found
    throw new SvcError('table_unknown', {
      name,
      suggestion: nearest(
        name,
        program.tables.map((table) => table.name),
      ),
    })
  }

  /**
   * Writes all records in one transaction. With `lastIds`, the records have ids, and later rows get ids above those.
   * @throws record_invalid with the location of the first invalid record
   */
  protected async writeRecords(
    program: Program,
    path: string,
    items: readonly {table: string; record: unknown; place: string}[],
    lastIds?: readonly {table: string; lastId: number}[],
  ): Promise<number> {
    const [{BadRecord, connect, danglingReference, Failure, recordInserter}, {raiseAssigned}] = await Promise.all([
      import('../lang/index.js'),
      import('../store/index.js'),
    ])
    const connection = await connect(program, await this.prepareDatabase(program))
    const inserters = new Map<string, InsertRecord>()
    const insert = (name: string) => {
      const inserter =
        inserters.get(name) ?? recordInserter(program, this.tableOf(program, name), connection, lastIds !== undefined)
      inserters.set(name, inserter)
      return inserter
    }
    try {
      return connection.together(() => {
        // Records may refer to later ones.
        connection.database.pragma('defer_foreign_keys = ON')
        for (const {table, record, place} of items)
          try {
            insert(table)(record)
          } catch (error) {
            if (!(error instanceof BadRecord || error instanceof Failure)) throw error
            throw new SvcError('record_invalid', {path, place, fault: error.message}, {cause: error})
          }
        for (const {table, lastId} of lastIds ?? [])
          raiseAssigned(connection.database, this.tableOf(program, table).sqlName, lastId)
        const dangling = danglingReference(connection)
        if (dangling !== undefined) throw new SvcError('record_invalid', {path, ...dangling})
        return items.length
      })
    } finally {
      connection.close()
    }
  }

  /** Migrates the database with the steps that cannot lose data. @throws migration_blocked */
  protected async prepareDatabase(program: Program): Promise<string> {
    const path = this.databasePath
    const {blockingSteps, migrate, noDecisions} = await import('../lang/index.js')
    const report = await migrate(program, path)
    const blocking = blockingSteps(report, noDecisions, program)
    if (report.applied > 0) this.output.notice(`Migrated ${path}: ${counted(report.applied, 'step')}.`)
    this.noteBackup(report)
    if (blocking.length > 0) this.refuseSteps(path, blocking)
    return path
  }

  /** Prints the path of the new backup and of removed old ones. */
  protected noteBackup({backup, removed_backups: removed = []}: MigrationReport): void {
    if (backup !== undefined) this.output.notice(`Backup before the migration: ${backup}`)
    for (const path of removed) this.output.notice(`Removed old backup: ${path}`)
  }

  /** Returns the database path if no needed step is pending. Does not migrate. @throws migration_blocked */
  protected async fittingDatabase(program: Program, isNeeded: (step: Step) => boolean): Promise<string> {
    const path = this.databasePath
    const {migrate} = await import('../lang/index.js')
    const {steps} = await migrate(program, path, {dryRun: true})
    const needed = steps.filter(isNeeded)
    return needed.length > 0 ? this.refuseSteps(path, needed) : path
  }

  /** Returns the database path if the program's tables can be read. @throws database_missing, migration_blocked */
  protected readableDatabase(program: Program): Promise<string> {
    this.existingDatabase()
    return this.fittingDatabase(
      program,
      (step) => step.blocking || (step.class === 'auto' && !indexSteps.has(step.action)),
    )
  }

  /** Prints the blocking steps. @throws migration_blocked */
  protected refuseSteps(path: string, blocking: readonly Step[]): never {
    process.stderr.write(formatSteps(blocking, {width: process.stderr.columns}))
    throw new SvcError('migration_blocked', {path, blocking: blocking.length})
  }

  /** Writes generated files and prints their paths. @throws output_exists before it writes anything */
  protected async writeFiles(
    folder: string,
    files: Readonly<Record<string, string>>,
    overwrite = false,
  ): Promise<void> {
    await writeGenerated(folder, files, {overwrite, inputs: []})
    const result: DbFilesV1 = {folder, files: Object.keys(files)}
    await this.output.result(result, () => result.files.map((name) => `${join(folder, name)}\n`).join(''))
  }

  /** The environment of a program: variables, log output and speech-to-text. */
  protected ports(): Ports {
    return {
      env: process.env,
      log: (level, text) => this.output.notice(level === 'info' ? text : `${level}: ${text}`),
      transcribe: (path) => this.#transcribe(path),
    }
  }

  /** Transcribes a recording, which must be in the speech workspace. */
  async #transcribe(path: string): Promise<Transcription> {
    const hooks = {signal: this.signal, report: () => undefined, notice: (text: string) => this.output.notice(text)}
    try {
      return {ok: (await this.speechPort.transcribe({path}, hooks)).text.trim()}
    } catch (error) {
      return transcriptionError(path, error)
    }
  }
}

/** The error of a transcription for a program, without a final full stop. */
function transcriptionError(path: string, thrown: unknown): Transcription {
  const error = SvcError.from(thrown)
  const isMissing = isErrorOf(error, 'file_not_found')
  return {error: isMissing ? `file not found: ${path}` : error.message.replace(/\.$/, '')}
}

export function formatSteps(steps: readonly Step[], view?: TableView): string {
  const hasReasons = steps.some(({reason}) => reason !== undefined)
  const place = ({table, column, index}: Step) => index ?? [table, column].filter(Boolean).join('.')
  const rows = steps.map((step) => [
    step.action,
    place(step),
    step.class,
    step.blocking ? 'yes' : '-',
    step.resolve_with ?? '-',
    ...(hasReasons ? [step.reason ?? ''] : []),
  ])
  const columns = ['STEP', wrapped('TARGET'), 'CLASS', 'BLOCKING', wrapped('FLAG')]
  return formatTable(hasReasons ? [...columns, wrapped('REASON')] : columns, rows, view)
}

export const formatReport = (
  {database, steps, applied, left, up_to_date: done}: MigrationReport,
  view?: TableView,
): string =>
  done
    ? `${database} matches the program.\n`
    : `${formatSteps(steps, view)}\n${basename(database)}: ${applied} applied, ${left} pending\n`
