import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import type {Database} from 'better-sqlite3'
import {type ErrorCode, isErrorOf} from '../../src/errors/index.js'
import {
  Application,
  checkProgram,
  type Decisions,
  type MigrateOptions,
  migrate,
  noDecisions,
  type Program,
  type Step,
} from '../../src/lang/index.js'
import {Driver} from '../support/sqlite.js'
import {temporaryFolder} from '../support/temporary.js'

export function program(source: string): Program {
  const checked = checkProgram(source)
  assert.deepEqual(
    checked.diagnostics.filter(({severity}) => severity === 'error').map(({message}) => message),
    [],
  )
  return checked
}

/** A table with the given fields and a fixed name. */
export const task = (fields: string, more = '') => `@table type Task { ${fields} }\n${more}`

export const decide = (decisions: Partial<Decisions>): MigrateOptions => ({decisions: {...noDecisions, ...decisions}})

export function withDatabase<T>(path: string, use: (database: Database) => T): T {
  const database = new Driver(path)
  try {
    return use(database)
  } finally {
    database.close()
  }
}

export const execute = (path: string, ...statements: string[]) =>
  withDatabase(path, (database) => {
    for (const sql of statements) database.exec(sql)
  })

export const rows = (path: string, sql: string): unknown[] =>
  withDatabase(path, (database) => database.prepare(sql).all())
export const values = (path: string, sql: string): unknown[] =>
  withDatabase(path, (database) => database.prepare(sql).pluck().all())

/** A database created by a program, then changed by some statements. */
export async function database(t: TestContext, source: string, ...statements: string[]): Promise<string> {
  const path = join(await temporaryFolder(t), 'app.db')
  await migrate(program(source), path)
  execute(path, ...statements)
  return path
}

/** The contents of a database: schema, rows and id sequences. */
export const contents = (path: string) =>
  withDatabase(path, (opened) => {
    const schema = opened.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all() as {
      type: string
      name: string
      sql: string | null
    }[]
    const tables = schema.filter(({type, sql}) => type === 'table' && !/USING vec0/.test(sql ?? ''))
    return {schema, rows: tables.map(({name}) => [name, opened.prepare(`SELECT * FROM "${name}"`).raw().all()])}
  })

export const failure = (code: ErrorCode, message: RegExp) => (error: unknown) => {
  assert.ok(isErrorOf(error, code), String(error))
  assert.match((error as Error).message, message)
  return true
}

/** Asserts that a migration is rejected and changes nothing. */
export async function refused(path: string, source: string, options: MigrateOptions, code: ErrorCode, message: RegExp) {
  const before = contents(path)
  await assert.rejects(migrate(program(source), path, options), failure(code, message))
  assert.deepEqual(contents(path), before)
}

export const without = (steps: readonly Step[]) => steps.map(({sql, ...step}) => step)

/** Asserts that a migration leaves no steps, and returns its report. */
export async function migrated(path: string, source: string, options?: MigrateOptions) {
  const report = await migrate(program(source), path, options)
  assert.deepEqual([report.applied, report.left], [report.steps.length, 0])
  assert.equal((await migrate(program(source), path)).up_to_date, true)
  return report
}

/** The value of a query endpoint without parameters. */
export async function query(path: string, source: string, name: string): Promise<unknown> {
  const application = await Application.open(program(source), {path})
  try {
    const target = application.program.functions.find((made) => made.name === name)
    assert.ok(target)
    const {value} = await application.call(target, [])
    return value
  } finally {
    application.close()
  }
}
