import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {checkProgram, connect, migrate, type Program, recordInserter} from '../../src/lang/index.js'
import {temporaryFolder} from '../support/temporary.js'
import {program} from './databases.js'

const before = '@table type Task { title: str }\n'
const after = `type State = | Open | Done
const least = 2
@table type Task {
    title: str unique
    state: State = Open
    points: int = least * 2
    price: dec = 1.50dec
    note: Option[str] = "new"
}
`

/** A database of the first program with some tasks. */
async function taskDatabase(t: TestContext, ...titles: string[]): Promise<string> {
  const path = join(await temporaryFolder(t), 'app.db')
  const old = program(before)
  await migrate(old, path)
  await insert(old, path, ...titles.map((title) => ({title})))
  return path
}

async function insert(of: Program, path: string, ...records: object[]): Promise<void> {
  const connection = await connect(of, path)
  const [table] = of.tables
  assert.ok(table)
  const add = recordInserter(of, table, connection, false)
  for (const record of records) add(record)
  connection.close()
}

async function rows(of: Program, path: string): Promise<unknown[]> {
  const connection = await connect(of, path, true)
  const found = connection.database.prepare('SELECT * FROM task ORDER BY _id').raw().all()
  connection.close()
  return found
}

describe('a column with a default', () => {
  it('is added to a table with rows, which get the default if the column is required', async (t) => {
    const path = await taskDatabase(t, 'a')
    const fresh = program(after)
    const report = await migrate(fresh, path)
    assert.equal(report.left, 0)
    await insert(fresh, path, {title: 'b'})
    assert.deepEqual(await rows(fresh, path), [
      [1, 'a', 'Open', 4, '1.50', null],
      [2, 'b', 'Open', 4, '1.50', 'new'],
    ])
    assert.equal((await migrate(fresh, path)).up_to_date, true)
  })

  it('gets the value of --default instead', async (t) => {
    const path = await taskDatabase(t, 'a')
    const fresh = program('@table type Task { title: str, points: int = 4 }\n')
    const decisions = {defaults: ['Task.points=7'], drops: [], rebuilds: [], usings: []}
    await migrate(fresh, path, {decisions})
    assert.deepEqual(await rows(fresh, path), [[1, 'a', 7]])
  })

  it('has no value for existing rows if it is the current time', async (t) => {
    const path = await taskDatabase(t, 'a')
    const fresh = program('@table type Task { title: str, at: int = now() }\n')
    const report = await migrate(fresh, path)
    assert.deepEqual(
      report.steps.map(({action, class: kind, blocking}) => [action, kind, blocking]),
      [['add_column', 'needs_default', true]],
    )
    assert.deepEqual(await rows(program(before), path), [[1, 'a']])
  })

  it('blocks, and changes nothing, if it is unique and rows would be equal', async (t) => {
    const path = await taskDatabase(t, 'a', 'a')
    const report = await migrate(program(after), path)
    assert.equal(report.applied, 0)
    assert.ok(
      report.steps.some(({blocking, reason}) => blocking && reason === 'duplicate values of title in rows 1, 2'),
    )
    assert.deepEqual(await rows(program(before), path), [
      [1, 'a'],
      [2, 'a'],
    ])
  })
})

describe('the default of a column', () => {
  const faults: readonly (readonly [source: string, code: string])[] = [
    ['@table type T { n: int = "a" }', 'typecheck.mismatch'],
    ['@table type T { n: int = f() }\nfn f() to int { 1 }', 'typecheck.constant'],
    ['@table type T { s: str = now() }', 'typecheck.mismatch'],
    ['type P { n: int = 1 }', 'parse.expected_token'],
    ['@table type T { n: int unique }\n@index T.n on (n)', 'typecheck.duplicate_name'],
    ['@table type T { tags: List[str] unique }', 'lint.index_column_type'],
  ]
  for (const [source, code] of faults)
    it(`is refused: ${source.split('\n')[0]}`, () => {
      const {diagnostics} = checkProgram(`${source}\n`)
      assert.equal(diagnostics.find(({severity}) => severity === 'error')?.code, code)
    })

  it('leaves a field named unique as it is', () => {
    const {tables, indexes} = program('@table type T { n: int unique: bool }\n')
    assert.deepEqual(
      tables[0]?.columns.map(({name}) => name),
      ['n', 'unique'],
    )
    assert.deepEqual(indexes, [])
  })
})
