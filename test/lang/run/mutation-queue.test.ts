import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {Application, checkProgram, migrate, type Value} from '../../../src/lang/index.js'
import {temporaryFolder} from '../../support/temporary.js'

const program = checkProgram(`@table type Task { title: str, n: int }
@index Task.by_n on (n) unique
@endpoint(kind: mutation) fn add(title: str, n: int) to Result[Id[Task]] {
    let id = db.Task.insert({ title: title, n: n })
    if n == 0 { return Error("zero") }
    return Ok(id + [1, 2, 3][n % 4] * 0)
}
@endpoint(kind: mutation) fn endless(n: int) to float {
    db.Task.insert({ title: "endless", n: n })
    let mut x = 2.0
    for i in range(0, 2000) { x = x * 2.0 }
    return x
}
@endpoint(kind: mutation) fn noted(n: int) to Option[Result[int]] {
    db.Task.insert({ title: "noted", n: n })
    return Some(Error("kept"))
}
@endpoint(kind: mutation) fn prints(n: int, times: int) to int {
    for i in range(0, times) { print("later") }
    for i in range(0, 300) { db.Task.all().count() }
    return db.Task.insert({ title: "prints", n: n })
}
@table type Place { name: str, at: List[float] }
@search_index Place.by_name on (name)
@vector_index Place.by_at on (at) { dimensions: 2 }
@endpoint(kind: mutation) fn place(name: str, at: List[float]) to Result[Id[Place]] {
    let id = db.Place.insert({ name: name, at: at })
    if name is "bad" { return Error("bad") }
    return Ok(id)
}
@endpoint(kind: query) fn near(at: List[float]) to List[Place] { return db.Place.where({ at: { near: at } }).limit(9) }
@endpoint(kind: query) fn named(text: str) to List[Place] { return db.Place.where({ name: { matches: text } }) }
@endpoint(kind: query) fn count() to int { return db.Task.all().count() }
`)

const functionOf = (name: string) => {
  const found = program.functions.find((each) => each.name === name)
  assert.ok(found !== undefined)
  return found
}

/** Opens an application. Time passes only with each output, by 20 s, so that the rest shares a transaction. */
async function open(t: TestContext) {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const path = join(await temporaryFolder(t), 'app.db')
  await migrate(program, path)
  const log = () => {
    now += 20_000
  }
  const application = await Application.open(program, {path, ports: {log}})
  t.after(() => application.close())
  let commits = 0
  application.onCommit = () => commits++
  /** What becomes of a call: `value`, `domain`, or the reason of the failure. */
  const end = async (name: string, ...args: readonly Value[]) => {
    try {
      return (await application.call(functionOf(name), args)).kind
    } catch (error) {
      const {reason, message} = error as Error & {reason?: string}
      return reason ?? message
    }
  }
  const add = (n: number, title = 'task') => end('add', title, n)
  const numbers = () =>
    application.writer.database.prepare('SELECT n FROM task ORDER BY n').pluck().all().map(Number) as number[]
  return {application, end, add, numbers, commits: () => commits}
}

describe('mutations of one iteration of the event loop', () => {
  it('share a commit, and fail alone', async (t) => {
    const {application, add, numbers, commits} = await open(t)
    // 0 is an error of the program, 3 has no element, and the second 1 is not unique.
    const ends = await Promise.all([0, 1, 2, 3, 1, 4, 5].map((n) => add(n)))
    assert.deepEqual(ends.slice(0, 4), ['domain', 'value', 'value', 'INDEX_OUT_OF_RANGE'])
    assert.notEqual(ends[4], 'value')
    assert.deepEqual(ends.slice(5), ['value', 'value'])
    assert.deepEqual(numbers(), [1, 2, 4, 5])
    assert.equal(commits(), 1)
    assert.equal((await application.call(functionOf('count'), [])).value, 4)
  })

  it('undo a result that cannot be sent, and keep a Result in an Option', async (t) => {
    const {end, add, numbers, commits} = await open(t)
    const ends = await Promise.all([add(1), end('endless', 2), end('noted', 3), add(4)])
    assert.deepEqual(ends, ['value', 'NOT_STORABLE', 'value', 'value'])
    assert.deepEqual(numbers(), [1, 3, 4])
    assert.equal(commits(), 1)
  })

  it('undo their entries of text and vector indexes alone', async (t) => {
    const {application, end, commits} = await open(t)
    const places: [string, number[]][] = [
      ['good', [1, 0]],
      ['bad', [2, 0]],
      ['good', [3, 0]],
      ['bad', [4]],
      ['good', [5, 0]],
    ]
    const ends = await Promise.all(places.map(([name, at]) => end('place', name, at)))
    assert.deepEqual([ends[0], ends[1], ends[2], ends[4]], ['value', 'domain', 'value', 'value'])
    assert.equal(commits(), 1)
    const found = async (name: string, arg: Value) =>
      ((await application.call(functionOf(name), [arg])).value as unknown[]).length
    assert.deepEqual(
      [await found('near', [1, 0]), await found('named', 'good'), await found('named', 'bad')],
      [3, 3, 0],
    )
  })

  it('have a time limit each', async (t) => {
    const {end, add, numbers} = await open(t)
    const ends = await Promise.all([end('prints', 1, 1), end('prints', 2, 1), end('prints', 3, 2), add(4)])
    assert.deepEqual(ends, ['value', 'value', 'TIMEOUT', 'value'])
    assert.deepEqual(numbers(), [1, 2, 4])
  })

  it('are read by the query that follows a reply', async (t) => {
    const {application, add} = await open(t)
    const count = async () => (await application.call(functionOf('count'), [])).value
    await count()
    for (let i = 1; i <= 8; i++) {
      // The first query opens a snapshot before the write.
      const [before] = await Promise.all([count(), add(i * 4 + 1)])
      assert.ok(before === i - 1 || before === i)
      assert.equal(await count(), i)
    }
  })

  it('run again one by one if their transaction fails, with the limit of a transaction', async (t) => {
    const {application, add, numbers, commits} = await open(t)
    const {database} = application.writer
    const pages = Number(database.pragma('page_count', {simple: true}))
    database.pragma(`max_page_count = ${pages + 4}`)
    const large = 'x'.repeat(40_000)
    const ends = await Promise.all([add(1), add(5, large), add(2), add(9, large), add(6)])
    assert.deepEqual([ends[0], ends[2], ends[4]], ['value', 'value', 'value'])
    assert.notEqual(ends[1], 'value')
    assert.notEqual(ends[3], 'value')
    assert.deepEqual(numbers(), [1, 2, 6])
    assert.ok(commits() <= 3)
    const many = await Promise.all(Array.from({length: 150}, (_, i) => add(1000 + i * 4)))
    assert.ok(many.every((end) => end === 'value'))
    assert.ok(commits() < 100, 'transactions are shared again')
  })
})
