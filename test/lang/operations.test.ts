import assert from 'node:assert/strict'
import {join} from 'node:path'
import {after, before, describe, it, type TestContext} from 'node:test'
import {startAppServer} from '../../src/app-server/index.js'
import {
  Application,
  checkProgram,
  ddl,
  explain,
  type FunctionType,
  fitsDatabase,
  migrate,
  type Ports,
  type Value,
} from '../../src/lang/index.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {execute, failure, program} from './databases.js'

/** The statements that create the database of a program. */
const statementsOf = (source: string) => ddl(program(source))

describe('a declaration', () => {
  it('of a table adds the key _id', () => {
    const [table = ''] = statementsOf('@table type BookLoan { title: str }')
    assert.match(table, /^CREATE TABLE IF NOT EXISTS "book_loan" \(\n {2}"_id" INTEGER PRIMARY KEY AUTOINCREMENT,/)
  })

  it('of a column is NOT NULL unless its type is Option', () => {
    const [table = ''] = statementsOf('@table type Book { title: str, pages: Option[int] }')
    assert.match(table, /"title" TEXT NOT NULL,\n {2}"pages" INTEGER\n/)
  })

  it('of an index creates an index of the columns in order', () => {
    const [, index] = statementsOf('@table type Book { title: str, pages: int }\n@index Book.by_size on (pages, title)')
    assert.equal(index, 'CREATE INDEX IF NOT EXISTS "idx_book_by_size" ON "book" ("pages", "title");')
  })
})

const books = `
@table type Book { title: str, pages: int, note: Option[str] }
@endpoint(kind: mutation) fn add(title: str, pages: int, note: Option[str]) to Id[Book] {
    return db.Book.insert({ title: title, pages: pages, note: note })
}
@endpoint(kind: query) fn load(id: int) to Option[Book] { return db.Book.get(id) }
@endpoint(kind: query) fn found(id: int) to Option[Book] { return db.Book.find(id) }
@endpoint(kind: mutation) fn remove(id: int) to bool { return db.Book.delete(id) }
@endpoint(kind: query) fn everything() to List[Book] { return db.Book.all() }
@endpoint(kind: query) fn exact(title: str, pages: int) to List[Book] {
    return db.Book.filter({ title: title, pages: pages })
}
@endpoint(kind: query) fn longest(n: int) to List[Book] { return db.Book.all().order_by(pages, desc).limit(n) }
@endpoint(kind: query) fn shortest(n: int) to List[Book] { return db.Book.all().order_by(pages, asc).limit(n) }
@endpoint(kind: query) fn size() to int { return db.Book.count() }
@endpoint(kind: query) fn size_of(pages: int) to int { return db.Book.filter({ pages: pages }).count() }
@endpoint(kind: query) fn titles() to List[Book] { return db.Book.all().select(title) }
`

/** Conditions of `where`, and the titles of the rows that each selects. */
const conditions: Readonly<Record<string, readonly [condition: string, titles: string]>> = {
  eq: ['{ pages: { eq: 200 } }', 'b d'],
  neq: ['{ pages: { neq: 200 } }', 'a c'],
  lt: ['{ pages: { lt: 200 } }', 'a'],
  lte: ['{ pages: { lte: 200 } }', 'a b d'],
  gt: ['{ pages: { gt: 200 } }', 'c'],
  gte: ['{ pages: { gte: 200 } }', 'b c d'],
  in: ['{ pages: { in: [100, 300] } }', 'a c'],
  contains: ['{ note: { contains: "ig" } }', 'c'],
  is_null: ['{ note: { is_null: true } }', 'a b d'],
  and: ['{ and: [{ pages: { gt: 100 } }, { title: { neq: "c" } }] }', 'b d'],
  or: ['{ or: [{ title: "a" }, { pages: { gt: 200 } }] }', 'a c'],
  not: ['{ not: { pages: 200 } }', 'a c'],
}

describe('an operation of a table', () => {
  const folder = suiteFolder()
  const selections = Object.entries(conditions).map(
    ([name, [condition]]) =>
      `@endpoint(kind: query) fn where_${name}() to List[Book] { return db.Book.where(${condition}) }\n`,
  )
  let application: Application
  before(async () => {
    const checked = program(books + selections.join(''))
    const path = join(folder, 'app.db')
    await migrate(checked, path)
    application = await Application.open(checked, {path})
    for (const [title, pages, note] of [
      ['a', 100],
      ['b', 200],
      ['c', 300, 'big'],
      ['d', 200],
    ])
      await call('add', title, pages, note)
  })
  after(() => application.close())

  async function call(name: string, ...args: unknown[]): Promise<unknown> {
    const target = application.program.functions.find((made) => made.name === name) as FunctionType
    return (await application.call(target, args)).value
  }
  const titlesOf = async (name: string, ...args: unknown[]) =>
    ((await call(name, ...args)) as {title: string}[]).map(({title}) => title).join(' ')

  it('insert returns the id of a row that get and find load, and delete removes it', async () => {
    const id = await call('add', 'x', 1, 'new')
    for (const name of ['load', 'found'])
      assert.deepEqual(JSON.parse(JSON.stringify(await call(name, id))), {_id: id, title: 'x', pages: 1, note: 'new'})
    assert.equal(await call('remove', id), true)
    assert.equal(await call('remove', id), false)
  })

  it('all returns every row', async () => {
    assert.equal(await titlesOf('everything'), 'a b c d')
  })

  it('filter compares each of its columns', async () => {
    assert.equal(await titlesOf('exact', 'b', 200), 'b')
    assert.equal(await titlesOf('exact', 'b', 100), '')
  })

  it('order_by and limit select the first rows in either direction', async () => {
    assert.equal(await titlesOf('longest', 1), 'c')
    assert.equal(await titlesOf('shortest', 3), 'a b d')
  })

  it('count counts all rows, or those of a filter', async () => {
    assert.deepEqual([await call('size'), await call('size_of', 200)], [4, 2])
  })

  it('select returns rows without the other columns', async () => {
    const [first] = (await call('titles')) as object[]
    assert.deepEqual(Object.keys(first ?? {}).sort(), ['_id', 'title'])
  })

  for (const [name, [, titles]] of Object.entries(conditions))
    it(`where selects rows with ${name}`, async () => {
      assert.equal(await titlesOf(`where_${name}`), titles)
    })
})

/** A program on a new database, and a function that calls its only endpoint. */
async function opened(t: TestContext, source: string, log: Ports['log'] = () => undefined) {
  const checked = program(source)
  const path = join(await temporaryFolder(t), 'app.db')
  await migrate(checked, path)
  const application = await Application.open(checked, {path, ports: {log}, fits: fitsDatabase})
  t.after(() => application.close())
  const [target] = application.program.functions as [FunctionType]
  return {path, call: async (...args: Value[]) => application.call(target, args)}
}

describe('a unique index', () => {
  for (const [columns, reason] of [
    ['book, day', 'another row of book_loan has the same book and day'],
    ['price', 'another row of book_loan has the same price'],
    ['book, price', 'another row of book_loan has the same book and price'],
  ])
    it(`on ${columns} refuses an equal row, and the failure names the table and the columns`, async (t) => {
      const {call} = await opened(
        t,
        `@table type BookLoan { book: int, day: int, price: dec }
@index BookLoan.once on (${columns}) unique
@endpoint(kind: mutation) fn lend(price: dec) to Id[BookLoan] {
    return db.BookLoan.insert({ book: 1, day: 2, price: price })
}`,
      )
      await call('1.0')
      await assert.rejects(call('1.00'), {kind: 'conflict', message: reason})
    })

  it('of another program names the index', async (t) => {
    const {path, call} = await opened(
      t,
      '@table type Loan { book: str }\n@endpoint(kind: mutation) fn lend() to Id[Loan] { return db.Loan.insert({ book: "a" }) }',
    )
    execute(path, 'CREATE UNIQUE INDEX own ON loan (lower(book))')
    await call()
    await assert.rejects(call(), {kind: 'conflict', message: 'another row has the same key in the unique index own'})
  })

  it('accepts several rows with None', async (t) => {
    const {call} = await opened(
      t,
      `@table type Loan { book: int, day: Option[int] }
@index Loan.once on (book, day) unique
@endpoint(kind: mutation) fn lend(day: Option[int]) to Id[Loan] { return db.Loan.insert({ book: 1, day: day }) }`,
    )
    for (const day of [null, null, 1]) await call(day)
    await assert.rejects(call(1), {kind: 'conflict'})
  })
})

describe('a handler without a transaction', () => {
  it('reports a schema that changes between its operations', async (t) => {
    const {path, call} = await opened(
      t,
      `@table type Task { title: str, note: Option[str] }
@endpoint(kind: server) fn titles() to List[Task] {
    print(1)
    return db.Task.all()
}`,
      () => execute(path, 'ALTER TABLE task DROP COLUMN note'),
    )
    await assert.rejects(call(), failure('schema_changed', /no longer matches the program/))
  })
})

describe('a hint of an operation', () => {
  const table = '@table type Book { title: str }\n'

  /** The plan of `db.Book.all()` with a modifier. */
  function planOf(modifier: string) {
    const source = `${table}@endpoint(kind: query) fn list() to List[Book] { return db.Book.all()${modifier} }`
    const [row] = explain(program(source), {query: 'list', all: false})
    return row?.plan ?? assert.fail()
  }
  const plain = planOf('')

  for (const [modifier, capabilities] of [
    ['.sync()', {requires_sync: true}],
    ['.using(fts)', {retrieval_mode: 'fts'}],
    ['.using(vector)', {retrieval_mode: 'vector'}],
    ['.using(hybrid)', {retrieval_mode: 'hybrid'}],
    ['.live("shelf.books")', {live_topic: 'shelf.books', emits_change_log: true}],
    ['.scope(orchestrator)', {orchestration_scope: 'orchestrator'}],
  ] as const)
    it(`${modifier} is a capability of its plan, and does not change the SQL`, () => {
      const plan = planOf(modifier)
      assert.deepEqual(plan.capabilities, {...plain.capabilities, ...capabilities})
      assert.equal(plan.sql, plain.sql)
    })
})

describe('a query endpoint', () => {
  for (const operation of ['insert({ title: "a" })', 'delete(1)', 'query("1")'])
    it(`is refused with db.Book.${operation}`, () => {
      const source = `@table type Book { title: str }\n@endpoint(kind: query) fn f() to Unit { db.Book.${operation} }\n`
      const errors = checkProgram(source).diagnostics.filter(({severity}) => severity === 'error')
      assert.ok(errors.some(({code}) => code === 'lint.query_not_readonly'))
    })
})

describe('the routes of a program', () => {
  it('are those of its endpoints, by kind, and those that it declares', async (t) => {
    const source = `
@endpoint(kind: query) fn twice(n: int) to int { return n * 2 }
@endpoint(kind: mutation) fn touch() to bool { return true }
@endpoint(kind: server) fn shout(word: str) to str { return word + "!" }
http get "/books/{id}" to str { return "got " + id }
http post "/books" to str { return "added" }
http put "/books/{id}" to str { return "replaced " + id }
http delete "/books/{id}" to str { return "removed " + id }
`
    const path = join(await temporaryFolder(t), 'app.db')
    const address = {host: '127.0.0.1', port: 0}
    const server = await startAppServer(program(source), {address, path, ports: {}, title: 'books'})
    t.after(() => server.close(1000))
    for (const [method, route, status, expected, body] of [
      ['GET', '/api/query/twice?n=4', 200, '8'],
      ['POST', '/api/mutation/touch', 200, 'true', {}],
      ['GET', '/api/mutation/touch', 405, 'METHOD_NOT_ALLOWED'],
      ['POST', '/api/shout', 200, 'hi!', {word: 'hi'}],
      ['GET', '/books/7', 200, 'got 7'],
      ['POST', '/books', 200, 'added', {}],
      ['PUT', '/books/7', 200, 'replaced 7', {}],
      ['DELETE', '/books/7', 200, 'removed 7'],
    ] as const) {
      const headers = {'content-type': 'application/json'}
      const response = await fetch(server.baseUrl + route, {
        method,
        ...(body === undefined ? {} : {headers, body: JSON.stringify(body)}),
      })
      assert.equal(response.status, status, route)
      assert.ok((await response.text()).includes(expected), route)
    }
  })

  for (const [path, reason] of [
    ['/x%20y', /invalid segment "x%20y"; use letters/],
    ['/a/../b', /invalid segment "\.\."/],
    ['/./b', /invalid segment "\."/],
    ['/{a}.json', /placeholder must be an entire segment/],
    ['/a//b', /empty segment/],
  ] as const)
    it(`do not have the path ${path}, which clients could not request`, () => {
      const {diagnostics} = checkProgram(`http get "${path}" to int { return 1 }\n`)
      assert.deepEqual(
        diagnostics.map(({code}) => code),
        ['typecheck.route_path'],
      )
      assert.match(diagnostics[0]?.message ?? '', reason)
    })
  it('can have any other character that needs no encoding', async (t) => {
    const paths = [..."~!$&'()+,;=@-."].map((character) => `/x${character}y`)
    const source = paths.map((path) => `http get "${path}" to str { return "got" }\n`).join('')
    const address = {host: '127.0.0.1', port: 0}
    const path = join(await temporaryFolder(t), 'app.db')
    const server = await startAppServer(program(source), {address, path, ports: {}, title: 'paths'})
    t.after(() => server.close(1000))
    for (const each of paths) assert.equal((await fetch(server.baseUrl + each)).status, 200, each)
  })
})
