import {createHash} from 'node:crypto'
import {existsSync} from 'node:fs'
import {open} from 'node:fs/promises'
import type {Database} from 'better-sqlite3'
import {SvcError} from '../../errors/index.js'
import {openDatabase, storeError} from '../../store/index.js'
import type {Program} from '../check/index.js'
import {backfill, ddl} from '../emit/index.js'
import {changeLogTable, loadVectors, needsVectors, topicsOf} from '../run/index.js'
import {type Choices, type Decisions, noDecisions, readChoices} from './choices.js'
import {addColumn, diff, type Step} from './diff.js'
import {readLiveSchema} from './live-schema.js'
import {RebuildFailed, rebuildTable} from './rebuild.js'

export interface MigrationReport {
  database: string
  up_to_date: boolean
  steps: Step[]
  /** How many of them were taken, and how many are left. */
  applied: number
  left: number
  /** A copy of the database as it was, where there was something to lose. */
  backup?: string
}

export interface MigrateOptions {
  decisions?: Decisions
  dryRun?: boolean
  /** Sees every statement before it runs. */
  onStatement?: (sql: string) => void
  now?: () => Date
}

const migrationsTable = `CREATE TABLE IF NOT EXISTS svc_data_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  applied_at TEXT NOT NULL,
  source_digest TEXT NOT NULL,
  plan_json TEXT NOT NULL
);`

/**
 * Brings a database to a program: steps that lose nothing by themselves, others where they are decided, all in one
 * transaction. A backup is taken first where the database holds tables.
 * @throws migration_failed, migration_choice, store_*
 */
export async function migrate(program: Program, path: string, options: MigrateOptions = {}): Promise<MigrationReport> {
  if (options.dryRun === true && path !== ':memory:' && !existsSync(path))
    return report(path, diff(program, {tables: new Map(), indexes: new Map()}), 0)
  const database = await openDatabase(path, {readonly: options.dryRun === true && path !== ':memory:'})
  try {
    if (needsVectors(program) || holdsVectors(database)) await loadVectors(database)
    const live = readLiveSchema(database)
    const steps = diff(program, live)
    const choices = readChoices(program, steps, options.decisions ?? noDecisions)
    if (options.dryRun === true) return report(path, steps, 0)
    const chosen = steps.filter((step) => isChosen(step, choices))
    const backup =
      chosen.length > 0 && live.tables.size > 0 && path !== ':memory:'
        ? await backUp(database, path, options.now?.() ?? new Date())
        : undefined
    const done = apply(database, program, choices, options.onStatement)
    return {...report(path, done.steps, done.applied), ...(backup === undefined ? {} : {backup})}
  } catch (error) {
    throw asMigrationError(error, path)
  } finally {
    database.close()
  }
}

const report = (path: string, steps: Step[], applied: number): MigrationReport => ({
  database: path,
  up_to_date: steps.length === 0,
  steps,
  applied,
  left: steps.length - applied,
})

/** The steps of a report that stand in the way of the program and were not taken. */
export const blockingSteps = ({steps}: MigrationReport, decisions: Decisions, program: Program): Step[] => {
  const choices = readChoices(program, steps, decisions)
  return steps.filter((step) => step.blocking && !isChosen(step, choices))
}

function isChosen(step: Step, {defaults, drops, rebuilds}: Choices): boolean {
  const {table = '', column = ''} = step
  switch (step.class) {
    case 'auto':
      return true
    case 'needs_default':
      return defaults.has(`${table}.${column}`)
    case 'rebuild':
      return rebuilds.has(table)
    case 'manual':
      return drops.has(step.action === 'drop_table' ? table : `${table}.${column}`)
  }
}

/** A copy of the whole file, consistent though others may write meanwhile. */
async function backUp(database: Database, path: string, now: Date): Promise<string> {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  let copy = `${path}.backup-${stamp}`
  for (let i = 2; existsSync(copy); i++) copy = `${path}.backup-${stamp}-${i}`
  // As the database itself, for the eyes of its owner alone.
  await (await open(copy, 'wx', 0o600)).close()
  await database.backup(copy)
  return copy
}

/** Takes the chosen steps in one transaction: looked at again under the lock, since another process may be first. */
function apply(
  database: Database,
  program: Program,
  choices: Choices,
  onStatement: MigrateOptions['onStatement'],
): {steps: Step[]; applied: number} {
  const run = (sql: string) => {
    onStatement?.(sql)
    database.exec(sql)
  }
  // Rebuilding drops a table that others may refer to; the check below looks at all references.
  database.pragma('foreign_keys = OFF')
  try {
    run('BEGIN IMMEDIATE;')
    const live = readLiveSchema(database)
    const steps = diff(program, live)
    const chosen = steps.filter((step) => isChosen(step, choices))
    if (topicsOf(program).size > 0) run(changeLogTable)
    if (chosen.length > 0) {
      takeSteps(database, program, live, chosen, choices, run)
      const broken = database.pragma('foreign_key_check') as unknown[]
      if (broken.length > 0) throw new RebuildFailed(`${broken.length} references would point nowhere`)
      record(database, program, chosen, run)
    }
    run('COMMIT;')
    return {steps, applied: chosen.length}
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  } finally {
    database.pragma('foreign_keys = ON')
  }
}

function takeSteps(
  database: Database,
  program: Program,
  live: ReturnType<typeof readLiveSchema>,
  chosen: readonly Step[],
  choices: Choices,
  run: (sql: string) => void,
): void {
  const rebuilt = new Set<string>()
  for (const step of chosen) {
    const index = program.indexes.find(({sqlName}) => step.action === 'create_index' && sqlName === step.index)
    const name = index?.table.sqlName ?? step.table ?? ''
    const table = program.tables.find(({sqlName}) => sqlName === name)
    // A table that was made anew has what its later steps would bring.
    if (rebuilt.has(name)) continue
    if (table !== undefined && (step.class === 'rebuild' || step.action === 'rebuild_table')) {
      rebuilt.add(name)
      const found = readLiveSchema(database).tables.get(name)
      if (found !== undefined) rebuildTable(database, program, table, found, choices, run)
    } else if (step.class === 'needs_default') {
      const column = table?.columns.find((each) => each.name === step.column)
      if (table !== undefined && column !== undefined)
        run(addColumn(table, column, choices.defaults.get(`${name}.${column.name}`)))
    } else run(step.sql ?? '')
    if (index !== undefined && live.tables.get(name)?.hasRows === true) for (const sql of backfill(index)) run(sql)
  }
}

function record(database: Database, program: Program, chosen: readonly Step[], run: (sql: string) => void): void {
  run(migrationsTable)
  const digest = createHash('sha256').update(ddl(program).join('\n')).digest('hex')
  database
    .prepare(
      `INSERT INTO svc_data_migrations (applied_at, source_digest, plan_json) VALUES (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?, ?)`,
    )
    .run(digest, JSON.stringify(chosen))
}

const holdsVectors = (database: Database): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING vec0(%'").get() !== undefined

function asMigrationError(error: unknown, path: string): unknown {
  if (error instanceof RebuildFailed)
    return new SvcError('migration_failed', {path, reason: error.message}, {cause: error})
  const known = storeError(error, path)
  if (known instanceof SvcError || !(known instanceof Error)) return known
  const {code = '', message} = known as NodeJS.ErrnoException
  return code.startsWith('SQLITE') ? new SvcError('migration_failed', {path, reason: message}, {cause: known}) : known
}
