import {createHash} from 'node:crypto'
import {existsSync} from 'node:fs'
import {rm} from 'node:fs/promises'
import type {Database} from 'better-sqlite3'
import type {DbMigrateV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {backUp, type OthersOptions, openAlone, openDatabase, pruneBackups, storeError} from '../../store/index.js'
import type {Index, Program, Table} from '../check/index.js'
import {backfill, createIndex, ddl} from '../emit/index.js'
import {indexedColumns} from '../plan/index.js'
import {changeLogTable, loadVectors, needsVectors, topicsOf} from '../run/index.js'
import {type Choices, type Decisions, noDecisions, readChoices} from './choices.js'
import {danglingReferences} from './constraints.js'
import {declaredKey, declaredOf, declaredTable} from './declared.js'
import {addColumn, diff, type Step} from './diff.js'
import {rowsInTheWay} from './in-the-way.js'
import {type LiveSchema, noSchema, readLiveSchema} from './live-schema.js'
import {RebuildFailed, rebuildTable} from './rebuild.js'
import {isRename, renameDeclared, renamed} from './renames.js'
import {checkUsing} from './using.js'

export type MigrationReport = DbMigrateV1

export interface MigrateOptions {
  decisions?: Decisions
  dryRun?: boolean
  /** Apply automatic and decided steps even if a blocking step has no decision; by default, nothing is applied then. */
  safeSteps?: boolean
  /** What to do about other processes if a step drops or rebuilds something; by default, they are a reason to fail. */
  others?: OthersOptions
  /** Called with every statement before it runs. */
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
 * Migrates a database to match a program: lossless steps automatically, others if the user decided on them, all in one
 * transaction, or nothing if a blocking step has no decision. Creates a backup first if the database contains tables.
 * @throws migration_failed, migration_choice, database_in_use, store_*
 */
export async function migrate(program: Program, path: string, options: MigrateOptions = {}): Promise<MigrationReport> {
  const {decisions = noDecisions, dryRun = false, safeSteps = false, others = {}, onStatement} = options
  const {now = () => new Date()} = options
  if (dryRun && path !== ':memory:' && !existsSync(path)) return report(path, diff(program, noSchema), 0)
  let database = await openDatabase(path, {readonly: dryRun && path !== ':memory:'})
  let backup: string | undefined
  try {
    await loadVectorsOf(program, database)
    const live = readLiveSchema(database)
    const steps = diff(program, live, database)
    const choices = readChoices(program, steps, decisions)
    checkUsings(program, live, choices)
    if (dryRun) return report(path, steps, 0)
    const chosen = isBlocked(steps, choices, safeSteps) ? [] : chosenSteps(program, steps, choices)
    if (path !== ':memory:' && others.online !== true && chosen.some(isTaking)) {
      database.close()
      database = await openAlone(path, others.wait)
      await loadVectorsOf(program, database)
    }
    if (chosen.length > 0 && live.tables.size > 0 && path !== ':memory:') backup = await backUp(database, path, now())
    const done = apply(database, program, choices, {safeSteps, onStatement})
    const finished = report(path, done.steps, done.applied)
    if (backup === undefined) return finished
    // The migration has succeeded even if old backups cannot be removed.
    const removed = await pruneBackups(path).catch(() => [])
    return {...finished, backup, ...(removed.length > 0 ? {removed_backups: removed} : {})}
  } catch (error) {
    // Nothing was changed, so the backup is redundant.
    if (backup !== undefined) await rm(backup, {force: true})
    throw asMigrationError(error, path)
  } finally {
    database.close()
  }
}

/** @throws migration_choice */
function checkUsings(program: Program, live: LiveSchema, {usings}: Choices): void {
  for (const [key, expression] of usings) {
    const [tableName, columnName] = key.split('.')
    const table = program.tables.find(({sqlName}) => sqlName === tableName)
    const column = table?.columns.find(({name}) => name === columnName)
    const found = live.tables.get(tableName ?? '')
    if (table !== undefined && column !== undefined && found !== undefined)
      checkUsing(program, table, column, found, expression)
  }
}

const report = (path: string, steps: Step[], applied: number): MigrationReport => ({
  database: path,
  up_to_date: steps.length === 0,
  steps,
  applied,
  left: steps.length - applied,
})

/** The steps of a report that block the program and were not applied. */
export const blockingSteps = ({steps}: MigrationReport, decisions: Decisions, program: Program): Step[] =>
  undecided(steps, readChoices(program, steps, decisions))

const undecided = (steps: readonly Step[], choices: Choices): Step[] =>
  steps.filter((step) => step.blocking && !isChosen(step, choices))

/** Whether a program can use a database as it is, perhaps more slowly than with all its indexes. */
export const fitsDatabase = (program: Program, database: Database): boolean =>
  diff(program, readLiveSchema(database), database).every(
    (step) =>
      !step.blocking &&
      (step.class !== 'auto' || step.action === 'drop_index' || indexOf(program, step)?.style === 'btree'),
  )

function isChosen(step: Step, {defaults, drops, rebuilds, usings}: Choices): boolean {
  const {table = '', column = ''} = step
  switch (step.class) {
    case 'auto':
      return true
    case 'needs_default':
      return defaults.has(`${table}.${column}`) || usings.has(`${table}.${column}`)
    case 'rebuild':
      return rebuilds.has(table)
    case 'manual':
      return drops.has(step.action === 'drop_table' ? table : `${table}.${column}`)
  }
}

/** Half of a migration would leave neither the old nor the new program working, so it is only made if the user says so. */
const isBlocked = (steps: readonly Step[], choices: Choices, safeSteps: boolean): boolean =>
  !safeSteps && undecided(steps, choices).length > 0

/** The steps to apply: automatic and decided steps, except indexes on columns that do not exist yet. */
function chosenSteps(program: Program, steps: readonly Step[], choices: Choices): Step[] {
  const waiting = new Set(
    steps
      .filter(
        (step) => step.action === 'add_column' && !isChosen(step, choices) && !choices.rebuilds.has(step.table ?? ''),
      )
      .map(({table, column}) => `${table}.${column}`),
  )
  return steps.filter((step) => {
    const index = indexOf(program, step)
    const waits = index && indexedColumns(index).some(({name}) => waiting.has(`${index.table.sqlName}.${name}`))
    return waits !== true && isChosen(step, choices)
  })
}

/** Whether a step may take away what an older program uses. */
const isTaking = (step: Step): boolean =>
  step.class === 'rebuild' || step.class === 'manual' || step.action === 'rebuild_table' || isRename(step)

const indexOf = (program: Program, {action, index}: Step): Index | undefined =>
  action === 'create_index' ? program.indexes.find(({sqlName}) => sqlName === index) : undefined

/** Applies the chosen steps in one transaction; re-plans them under the lock, because another process may be faster. */
function apply(
  database: Database,
  program: Program,
  choices: Choices,
  {safeSteps, onStatement}: {safeSteps: boolean; onStatement: MigrateOptions['onStatement']},
): {steps: Step[]; applied: number} {
  const run = (sql: string) => {
    onStatement?.(sql)
    database.exec(sql)
  }
  // Rebuilding drops a table that others may refer to; all references are checked below.
  database.pragma('foreign_keys = OFF')
  try {
    run('BEGIN IMMEDIATE;')
    const renames = renameAll(database, program, run)
    const live = readLiveSchema(database)
    const steps = [...renames, ...diff(program, live, database)]
    if (isBlocked(steps, choices, safeSteps)) {
      run('ROLLBACK;')
      return {steps, applied: 0}
    }
    const chosen = chosenSteps(program, steps, choices)
    if (topicsOf(program).size > 0) run(changeLogTable)
    const taking: Taking = {database, program, live, steps, chosen, choices, run}
    if (chosen.length > 0) {
      takeSteps(taking)
      const dangling = danglingReferences(database, program)
      if (dangling !== undefined) throw new RebuildFailed(dangling)
      record(database, program, chosen, run)
    }
    keepTypes(taking)
    run('COMMIT;')
    return {steps, applied: chosen.length}
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  } finally {
    database.pragma('foreign_keys = ON')
  }
}

/** Renames first, so that the other steps find everything under its new name. */
function renameAll(database: Database, program: Program, run: (sql: string) => void): Step[] {
  const live = readLiveSchema(database)
  const {steps} = renamed(program, live)
  for (const step of steps) {
    run(step.sql ?? '')
    for (const sql of renameDeclared(step, readLiveSchema(database))) run(sql)
  }
  return steps
}

interface Taking {
  database: Database
  program: Program
  live: LiveSchema
  steps: readonly Step[]
  chosen: readonly Step[]
  choices: Choices
  run: (sql: string) => void
}

function takeSteps(taking: Taking): void {
  const {program, live, chosen, choices, run} = taking
  const rebuilt = new Set(
    chosen.filter(({class: kind, action}) => kind === 'rebuild' || action === 'rebuild_table').map(({table}) => table),
  )
  for (const table of choices.usings.keys()) rebuilt.add(table.slice(0, table.indexOf('.')))
  const waiting = new Set(rebuilt)
  for (const step of chosen) {
    if (isRename(step)) continue
    const index = indexOf(program, step)
    const name = index?.table.sqlName ?? step.table ?? ''
    const table = program.tables.find(({sqlName}) => sqlName === name)
    const isRespelled = step.action === 'change_column' && step.class === 'auto'
    // A rebuild applies all steps of a table at once.
    if (table !== undefined && rebuilt.has(name) && !isRespelled) {
      if (waiting.delete(name)) rebuildWithIndexes(taking, table)
      continue
    }
    const column = table?.columns.find((each) => each.name === step.column)
    const given = choices.defaults.get(`${name}.${step.column}`)
    if (step.action === 'add_column' && given !== undefined && table !== undefined && column !== undefined)
      run(addColumn(table, column, given))
    else if (index !== undefined) makeIndex(taking, index, step.sql ?? '', live.tables.get(name)?.hasRows === true)
    else run(step.sql ?? '')
  }
}

function rebuildWithIndexes(taking: Taking, table: Table): void {
  const {database, program, live, steps, chosen, choices, run} = taking
  const found = readLiveSchema(database).tables.get(table.sqlName)
  if (found === undefined) return
  const liveIndexes = [...live.indexes.values()].filter((index) => index.table === table.sqlName)
  rebuildTable({database, program, table, live: found, liveIndexes, choices, run})
  for (const index of program.indexes) {
    if (index.table !== table) continue
    const before = live.indexes.get(index.sqlName)
    const isTaken = chosen.some((step) => step.index === index.sqlName)
    const isLeft = steps.some((step) => step.index === index.sqlName) && !isTaken
    if (!isLeft) makeIndex(taking, index, createIndex(index).join('\n'), true)
    else if (before !== undefined) run(`${before.sql};`)
  }
}

/** @throws RebuildFailed with the conflicting rows */
function makeIndex({database, run}: Taking, index: Index, sql: string, hasRows: boolean): void {
  try {
    run(sql)
    if (hasRows) for (const statement of backfill(index)) run(statement)
  } catch (error) {
    const reason = rowsInTheWay(database, index)
    throw reason === undefined
      ? error
      : new RebuildFailed(`index ${index.table.name}.${index.name}: ${reason}`, {cause: error})
  }
}

/** Records the types of columns that match the program, and deletes those of dropped columns. */
function keepTypes({database, program, live: before, steps, chosen, run}: Taking): void {
  const live = chosen.length === 0 ? before : readLiveSchema(database)
  const isLeft = (table: Table, name: string) =>
    steps.some(
      (step) =>
        step.class === 'rebuild' && step.table === table.sqlName && step.column === name && !chosen.includes(step),
    )
  const fresh = program.tables.flatMap((table) => {
    const columns = live.tables.get(table.sqlName)?.columns ?? []
    return table.columns.flatMap((column): [string, string, string][] => {
      const found = columns.find(({name}) => name === column.name)
      const declared = declaredOf(column)
      if (found === undefined || found.declared === declared || isLeft(table, column.name)) return []
      return [[table.sqlName, column.name, declared]]
    })
  })
  if (fresh.length > 0) run(declaredTable)
  for (const row of fresh) database.prepare('INSERT OR REPLACE INTO svc_data_columns VALUES (?, ?, ?)').run(...row)
  const isThere = new Set(
    [...live.tables.values()].flatMap(({name, columns}) => columns.map((column) => declaredKey(name, column.name))),
  )
  if ([...live.declared.keys()].some((key) => !isThere.has(key)))
    run(`DELETE FROM svc_data_columns WHERE NOT EXISTS
  (SELECT 1 FROM pragma_table_info(table_name) WHERE lower(name) = lower(column_name));`)
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

const loadVectorsOf = async (program: Program, database: Database): Promise<void> => {
  if (needsVectors(program) || holdsVectors(database)) await loadVectors(database)
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
