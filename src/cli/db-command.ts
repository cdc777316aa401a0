import {existsSync} from 'node:fs'
import {basename, isAbsolute, join, relative, resolve} from 'node:path'
import {Args, type Command, Flags} from '@oclif/core'
import {appSettings, speechServerSettings} from '../config/index.js'
import type {DbFilesV1} from '../contracts/index.js'
import {isErrorOf, nearest, SvcError} from '../errors/index.js'
import {containedPath, writeGenerated} from '../files/index.js'
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
import type {Transcriber} from '../speech/index.js'
import {readInput} from './input.js'
import {settingFlags} from './setting-flags.js'
import {SpeechCommand} from './speech-command.js'
import {formatTable} from './table.js'

/** `--db FILE`, of every command that opens a database. */
export const databaseFlag = settingFlags(appSettings, 'database')

/** `--store`: the file of svc itself instead of the application's. */
export const storeFlag = {
  store: Flags.boolean({
    description: "The workspace's own store, .svc/store.db, instead of the application's database.",
  }),
}

export const programArg = Args.string({description: 'The program; src/main.svc when left out, - for standard input.'})

/** `--program FILE`, of every command that reads a program. */
export const programFlag = {
  program: Flags.string({char: 'p', description: 'The program; src/main.svc when left out.', helpValue: 'FILE'}),
}

/** Rows are read as well without them. */
const indexSteps: ReadonlySet<string> = new Set(['create_index', 'drop_index'])

/** A program that was read from a file. */
export interface Source {
  /** As it is shown. */
  path: string
  text: string
}

/** A command on a program of the data language, or on its database. */
export abstract class DbCommand<T extends typeof Command = typeof Command> extends SpeechCommand<T> {
  #transcriber: Transcriber | undefined

  /** The programs that the command line names; undefined is that of the settings. @throws usage where it names others twice */
  protected get programPaths(): readonly (string | undefined)[] {
    const {file, files = file === undefined ? [] : [file]} = this.args as {file?: string; files?: string[]}
    const {program} = this.flags as {program?: string}
    const other = files.find((path) => program !== undefined && resolve(path) !== resolve(program))
    if (other === undefined) return files.length > 0 ? files : [program]
    throw new SvcError('usage', {reason: `The argument names the program ${other} and --program names ${program}.`})
  }

  /** Reads a program. @throws program_not_found, file_unreadable */
  protected async readSource(path: string | undefined): Promise<Source> {
    const given = path ?? this.settings(appSettings).program
    const file = path === undefined && !isAbsolute(given) ? join(this.workspace.root, given) : given
    if (file !== '-' && !existsSync(file)) throw new SvcError('program_not_found', {path: given})
    const bytes = await readInput(file, this.signal)
    return {
      path: file === '-' ? '<stdin>' : relative(process.cwd(), resolve(file)) || file,
      text: bytes.toString('utf8'),
    }
  }

  /** Reads and checks a program. @throws program_invalid, after its diagnostics were printed */
  protected async readProgram(
    path: string | undefined = this.programPaths[0],
  ): Promise<{source: Source; program: Program}> {
    const source = await this.readSource(path)
    const {checkProgram} = await import('../lang/index.js')
    const program = checkProgram(source.text)
    if (program.hasErrors) await this.refuse(source, program.diagnostics)
    return {source, program}
  }

  /** Refuses what promises a protection that there is not. @throws endpoint_auth_not_enforced */
  protected async requireEnforced({path}: Source, {source, diagnostics}: Program): Promise<void> {
    const found = diagnostics.find(({start, end}) => source.slice(start, end) === '@auth')
    if (found === undefined) return
    const {Lines} = await import('../lang/index.js')
    const {line, col} = new Lines(source).at(found.start)
    throw new SvcError('endpoint_auth_not_enforced', {place: `${path}:${line}:${col}`})
  }

  protected async refuse({path, text}: Source, diagnostics: readonly Diagnostic[]): Promise<never> {
    const {renderDiagnostics} = await import('../lang/index.js')
    const errors = diagnostics.filter(({severity}) => severity === 'error')
    process.stderr.write(`${renderDiagnostics(errors, path, text)}\n`)
    throw new SvcError('program_invalid', {path, errors: errors.length})
  }

  /** The database of the workspace, or the one that was named. */
  protected get databasePath(): string {
    const named = this.settings(appSettings).database
    if (named === undefined) return join(this.workspace.root, '.svc', 'app.db')
    return named === ':memory:' ? named : resolve(named)
  }

  /** @throws database_missing */
  protected existingDatabase(): string {
    const path = this.databasePath
    if (!existsSync(path)) throw new SvcError('database_missing', {path})
    return path
  }

  /** The store of the workspace, which holds what svc itself remembers. */
  protected get storePath(): string {
    return join(this.workspace.root, '.svc', 'store.db')
  }

  /** @throws database_missing */
  protected existingStore(): string {
    if (!existsSync(this.storePath)) throw new SvcError('database_missing', {path: this.storePath})
    return this.storePath
  }

  /** A table by its name. @throws table_unknown */
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

  /** Writes records, all or none. @throws record_invalid with the place of the first one that does not fit */
  protected async writeRecords(
    program: Program,
    path: string,
    items: readonly {table: string; record: unknown; place: string}[],
    keepsIds: boolean,
  ): Promise<number> {
    const {BadRecord, connect, Failure, recordInserter} = await import('../lang/index.js')
    const connection = await connect(program, await this.prepareDatabase(program))
    const inserters = new Map<string, InsertRecord>()
    const insert = (name: string) => {
      const known = inserters.get(name) ?? recordInserter(program, this.tableOf(program, name), connection, keepsIds)
      inserters.set(name, known)
      return known
    }
    try {
      return connection.together(() => {
        for (const {table, record, place} of items)
          try {
            insert(table)(record)
          } catch (error) {
            if (!(error instanceof BadRecord || error instanceof Failure)) throw error
            throw new SvcError('record_invalid', {path, place, fault: error.message}, {cause: error})
          }
        return items.length
      })
    } finally {
      connection.close()
    }
  }

  /** Brings the database to the program by the steps that lose nothing. @throws migration_blocked */
  protected async prepareDatabase(program: Program): Promise<string> {
    const path = this.databasePath
    const {blockingSteps, migrate, noDecisions} = await import('../lang/index.js')
    const report = await migrate(program, path)
    const blocking = blockingSteps(report, noDecisions, program)
    if (report.applied > 0) this.output.notice(`Migrated ${path}: ${report.applied} steps.`)
    this.noteBackup(report)
    if (blocking.length > 0) this.refuseSteps(path, blocking)
    return path
  }

  /** Says where the backup is, and which were removed for it. */
  protected noteBackup({backup, removed_backups: removed = []}: MigrationReport): void {
    if (backup !== undefined) this.output.notice(`Backup of the database before the migration: ${backup}`)
    for (const path of removed) this.output.notice(`Removed an old backup: ${path}`)
  }

  /** The database, where it has all that is needed; it is not changed. @throws database_missing, migration_blocked */
  protected async fittingDatabase(program: Program, isNeeded: (step: Step) => boolean): Promise<string> {
    const path = this.databasePath
    const {migrate} = await import('../lang/index.js')
    const {steps} = await migrate(program, path, {dryRun: true})
    const needed = steps.filter(isNeeded)
    return needed.length > 0 ? this.refuseSteps(path, needed) : path
  }

  /** The database of a command that reads the tables of the program. @throws database_missing, migration_blocked */
  protected readableDatabase(program: Program): Promise<string> {
    this.existingDatabase()
    return this.fittingDatabase(
      program,
      (step) => step.blocking || (step.class === 'auto' && !indexSteps.has(step.action)),
    )
  }

  protected refuseSteps(path: string, blocking: readonly Step[]): never {
    process.stderr.write(formatSteps(blocking))
    throw new SvcError('migration_blocked', {path, blocking: blocking.length})
  }

  /**
   * Writes files into a folder, and tells which.
   * @throws output_exists before anything is written
   */
  protected async writeFiles(
    folder: string,
    files: Readonly<Record<string, string>>,
    overwrite = false,
  ): Promise<void> {
    await writeGenerated(folder, files, {overwrite, inputs: []})
    const result: DbFilesV1 = {folder, files: Object.keys(files)}
    await this.output.result(result, () => result.files.map((name) => `${join(folder, name)}\n`).join(''))
  }

  /** What a program gets from outside: the environment, a place for what it prints, and ears. */
  protected ports(): Ports {
    return {
      env: process.env,
      log: (level, text) => this.output.notice(level === 'info' ? text : `${level}: ${text}`),
      transcribe: (path) => this.#transcribe(path),
    }
  }

  /** Recordings lie in the speech workspace, and nowhere else. */
  async #transcribe(path: string): Promise<Transcription> {
    const root = this.settings(speechServerSettings).workspace ?? this.workspace.root
    try {
      const file = await containedPath(root, path)
      this.#transcriber ??= await this.createTranscriber({refine: true})
      const {transcript} = await this.#transcriber.transcribe({path: file}, {signal: this.signal})
      return {ok: transcript.text.trim()}
    } catch (error) {
      return notHeard(path, error)
    }
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    await this.#transcriber?.close()
    await super.finally(error)
  }
}

/** What a program gets of a recording that cannot be heard; it makes a sentence of it. */
export function notHeard(path: string, thrown: unknown): Transcription {
  const error = SvcError.from(thrown)
  const isMissing = isErrorOf(error, 'file_not_found')
  return {error: isMissing ? `file not found: ${path}` : error.message.replace(/\.$/, '')}
}

export function formatSteps(steps: readonly Step[]): string {
  const hasReasons = steps.some(({reason}) => reason !== undefined)
  const place = ({table, column, index}: Step) => index ?? [table, column].filter(Boolean).join('.')
  const rows = steps.map((step) => [
    step.action,
    place(step),
    step.class,
    step.blocking ? 'blocking' : '',
    step.resolve_with ?? '',
    ...(hasReasons ? [step.reason ?? ''] : []),
  ])
  return formatTable(['STEP', 'OF', 'CLASS', '', 'DECIDE WITH', ...(hasReasons ? ['REASON'] : [])], rows)
}

export const formatReport = ({database, steps, applied, left, up_to_date: done}: MigrationReport): string =>
  done
    ? `${database} fits the program.\n`
    : `${formatSteps(steps)}\n${basename(database)}: ${applied} applied, ${left} left\n`
