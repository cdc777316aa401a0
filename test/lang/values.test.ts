import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {Application, checkProgram, decoder, type FunctionType, migrate, toJson} from '../../src/lang/index.js'
import {serveDb} from '../support/db-server.js'
import {Driver} from '../support/sqlite.js'
import {temporaryFolder} from '../support/temporary.js'

/** A program on its own database, with values as JSON. */
async function open(t: TestContext, source: string) {
  const program = checkProgram(source)
  assert.ok(!program.hasErrors, JSON.stringify(program.diagnostics))
  const path = join(await temporaryFolder(t), 'app.db')
  await migrate(program, path)
  const application = await Application.open(program, {path})
  t.after(() => application.close())
  const call = async (name: string, ...args: unknown[]) => {
    const made = program.functions.find((one) => one.name === name) as FunctionType
    const values = made.params.map(({type}, i) => decoder(type)(args[i]))
    return toJson((await application.call(made, values)).value)
  }
  return {path, call}
}

const jsonNotes = `@table type Note { data: Json, more: Option[Json] }
type Envelope { data: Json }
@endpoint(kind: mutation) fn add(data: Json, more: Option[Json]) to Id[Note] { return db.Note.insert({ data: data, more: more }) }
@endpoint(kind: query) fn all() to List[Note] { return db.Note.all() }
@endpoint(kind: server) fn echo(data: Json) to Json { return data }
@endpoint(kind: server) fn wrapped(data: Json) to Envelope { return { data: data } }
@endpoint(kind: server) fn nothing(data: Json) to bool { return data.is_null() }
@endpoint(kind: server) fn parsed(text: str) to Result[Json] { return std.json.parse(text) }
@endpoint(kind: server) fn printed(data: Json) to str { return str(data) }
`

describe('Json', () => {
  const values = [
    null,
    {user: 'a', deleted_at: null, list: [{x: null}, null, [null]]},
    [null, {a: null}],
    'text',
    0,
    false,
    {},
    [],
  ]

  it('preserves every null, in the database and in replies', async (t) => {
    const {call} = await open(t, jsonNotes)
    for (const value of values) {
      await call('add', value, value)
      assert.deepEqual(await call('echo', value), value)
      assert.deepEqual(await call('wrapped', value), {data: value})
      assert.deepEqual(await call('parsed', JSON.stringify(value)), value)
      assert.equal(await call('printed', value), typeof value === 'string' ? value : JSON.stringify(value))
      assert.equal(await call('nothing', value), value === null)
    }
    assert.deepEqual(
      ((await call('all')) as {data: unknown; more?: unknown}[]).map(({data, more}) => ({data, more})),
      values.map((value) => ({data: value, more: value ?? undefined})),
    )
  })
})

const shapes = `type P { x: dec, y: Option[int] }
type S = | A(x: dec) | B(tags: Set[str]) | C
type Tree { items: List[Tree], value: dec }
`

/** Two expressions of a type, and whether their values are equal. */
const pairs: readonly (readonly [type: string, a: string, b: string, equal: boolean])[] = [
  ['int', '1', '2', false],
  ['float', '1.0', '1', true],
  ['str', '"1.0"', '"1.00"', false],
  ['dec', '1.0dec', '1.00dec', true],
  ['dec', '0dec - 0.0dec', '0.00dec', true],
  ['dec', '1.0dec', '1.01dec', false],
  ['Option[dec]', 'Some(1.0dec)', 'Some(1.00dec)', true],
  ['Option[dec]', 'Some(1.0dec)', 'None', false],
  ['List[dec]', '[1.0dec]', '[1.00dec]', true],
  ['List[List[dec]]', '[[1.0dec]]', '[[1.00dec]]', true],
  ['List[int]', '[1, 2]', '[2, 1]', false],
  ['List[str]', '["1", "2"]', '["1,2"]', false],
  ['Set[int]', '[1, 2]', '[2, 1]', true],
  ['Set[int]', '[1, 2]', '[2, 1, 1]', true],
  ['Set[int]', '[1, 2]', '[1]', false],
  ['Set[dec]', '[1.0dec, 2dec]', '[2.0dec, 1dec, 1.00dec]', true],
  ['List[Set[str]]', '[["a", "b"]]', '[["b", "a"]]', true],
  ['Map[str, dec]', '{ a: 1.0dec, b: 2dec }', '{ b: 2.0dec, a: 1dec }', true],
  ['Map[str, Set[int]]', '{ a: [1, 2] }', '{ a: [2, 1] }', true],
  ['Map[str, dec]', '{ a: 1.0dec }', '{ b: 1.0dec }', false],
  ['(dec, int)', '(1.0dec, 1)', '(1.00dec, 1)', true],
  ['P', '{ x: 1.0dec }', '{ x: 1.00dec, y: None }', true],
  ['P', '{ x: 1.0dec }', '{ x: 1.00dec, y: 1 }', false],
  ['S', 'A(1.0dec)', 'A(1.00dec)', true],
  ['S', 'B(["a", "b"])', 'B(["b", "a"])', true],
  ['S', 'B([])', 'C', false],
  [
    'Tree',
    '{ items: [{ items: [], value: 1.0dec }], value: 2dec }',
    '{ items: [{ items: [], value: 1dec }], value: 2.0dec }',
    true,
  ],
]

describe('equality', () => {
  it('is the same for is, contains and sets', async (t) => {
    const functions = pairs.map(
      ([type, a, b], i) => `fn a${i}() to ${type} { return ${a} }
fn b${i}() to ${type} { return ${b} }
@endpoint(kind: query) fn equal${i}() to List[bool] {
    let both: Set[${type}] = [a${i}(), b${i}()]
    let one: Set[${type}] = [a${i}()]
    let listed: List[${type}] = [a${i}()]
    return [
        a${i}() is b${i}(), not (a${i}() isnt b${i}()), b${i}() is a${i}(), listed is [b${i}()],
        listed.contains(b${i}()), one.contains(b${i}()), len(both) is 1, len(one.push(b${i}())) is 1
    ]
}
`,
    )
    const {call} = await open(t, shapes + functions.join(''))
    for (const [i, [type, a, b, equal]] of pairs.entries())
      assert.deepEqual(await call(`equal${i}`), Array(8).fill(equal), `${type}: ${a}, ${b}`)
  })

  it('is that of the type for sets in requests', async (t) => {
    const {call} = await open(t, '@endpoint(kind: query) fn echo(prices: Set[dec]) to Set[dec] { return prices }\n')
    assert.deepEqual(await call('echo', ['1.0', '2', '1.00']), ['1.0', '2'])
  })
})

const amounts = `@table type Item { p: dec, q: Option[dec], list: List[dec] }
@index Item.by_p on (p)
@endpoint(kind: mutation) fn add(p: dec, q: Option[dec], list: List[dec]) to Id[Item] { return db.Item.insert({ p: p, q: q, list: list }) }
@endpoint(kind: query) fn lt(x: dec) to List[Item] { return db.Item.where({ p: { lt: x } }) }
@endpoint(kind: query) fn lte(x: dec) to List[Item] { return db.Item.where({ p: { lte: x } }) }
@endpoint(kind: query) fn gt(x: dec) to List[Item] { return db.Item.where({ p: { gt: x } }) }
@endpoint(kind: query) fn gte(x: dec) to List[Item] { return db.Item.where({ p: { gte: x } }) }
@endpoint(kind: query) fn eq(x: dec) to List[Item] { return db.Item.filter({ p: x }) }
@endpoint(kind: query) fn neq(x: Option[dec]) to List[Item] { return db.Item.where({ q: { neq: x } }) }
@endpoint(kind: query) fn one_of(xs: List[dec]) to List[Item] { return db.Item.where({ p: { in: xs } }) }
@endpoint(kind: query) fn either(x: dec, y: dec) to List[Item] { return db.Item.where({ p: { in: [x, y] } }) }
@endpoint(kind: query) fn holds(x: dec) to List[Item] { return db.Item.where({ list: { contains: x } }) }
@endpoint(kind: query) fn up() to List[Item] { return db.Item.all().order_by(p) }
@endpoint(kind: query) fn down() to List[Item] { return db.Item.all().order_by(p, desc) }
`

describe('dec columns', () => {
  const texts = [
    '9.50',
    '10.50',
    '100',
    '-1',
    '-2',
    '10.5',
    '0',
    '-0.00',
    '0.001',
    '-0.0010',
    '007',
    '99999999999999999999.5',
  ]
  const value = (text: string) => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(6, '0'))
  }
  const by = (matches: (found: bigint) => boolean) => texts.flatMap((text, i) => (matches(value(text)) ? [i + 1] : []))
  const ids = (rows: unknown) => (rows as {_id: number}[]).map(({_id}) => _id).sort((a, b) => a - b)

  it('are compared and ordered by value, and preserve their digits', async (t) => {
    const {call} = await open(t, amounts)
    for (const text of texts) await call('add', text, text === '0' ? null : text, [text, '5'])
    for (const text of [...texts, '9.75', '-1.5', '1']) {
      const x = value(text)
      assert.deepEqual(
        ids(await call('lt', text)),
        by((y) => y < x),
        `< ${text}`,
      )
      assert.deepEqual(
        ids(await call('lte', text)),
        by((y) => y <= x),
        `<= ${text}`,
      )
      assert.deepEqual(
        ids(await call('gt', text)),
        by((y) => y > x),
        `> ${text}`,
      )
      assert.deepEqual(
        ids(await call('gte', text)),
        by((y) => y >= x),
        `>= ${text}`,
      )
      assert.deepEqual(
        ids(await call('eq', text)),
        by((y) => y === x),
        `= ${text}`,
      )
      assert.deepEqual(
        ids(await call('holds', text)),
        by((y) => y === x),
        `holds ${text}`,
      )
      assert.deepEqual(
        ids(await call('one_of', [text, '100.0'])),
        by((y) => y === x || y === value('100')),
      )
      assert.deepEqual(
        ids(await call('either', text, '100.0')),
        by((y) => y === x || y === value('100')),
      )
      const others = texts.flatMap((other, i) => (other === '0' || value(other) !== x ? [i + 1] : []))
      assert.deepEqual(ids(await call('neq', text)), others, `<> ${text}`)
    }
    const up = (await call('up')) as {_id: number; p: string}[]
    const order = texts.map((text, i) => [value(text), i + 1] as const)
    const sorted = [...order].sort(([a, i], [b, j]) => (a < b ? -1 : a > b ? 1 : i - j)).map(([, id]) => id)
    assert.deepEqual(
      up.map(({_id}) => _id),
      sorted,
    )
    assert.deepEqual(
      up.map(({_id, p}) => texts[_id - 1] === p),
      up.map(() => true),
    )
    const down = ((await call('down')) as {_id: number}[]).map(({_id}) => value(texts[_id - 1] ?? ''))
    assert.ok(down.every((each, i) => i === 0 || each <= (down[i - 1] as bigint)))
  })

  it('are ordered by value in random data, with an index', async (t) => {
    const {call, path} = await open(t, amounts)
    let state = 11
    const next = (below: number) => {
      state = (1103515245 * state + 12345) % 2 ** 31
      return state % below
    }
    const random = Array.from({length: 300}, () => {
      const digits = String(next(10 ** next(9)))
      return `${next(2) === 0 ? '-' : ''}${digits}${next(2) === 0 ? '' : `.${String(next(1000)).padStart(3, '0')}`}`
    })
    for (const text of random) await call('add', text, null, [])
    const found = ((await call('up')) as {p: string}[]).map(({p}) => value(p))
    assert.ok(found.every((each, i) => i === 0 || each >= (found[i - 1] as bigint)))
    const database = new Driver(path, {readonly: true})
    t.after(() => database.close())
    const [{sql}] = database.prepare("SELECT sql FROM sqlite_schema WHERE name = 'idx_item_by_p'").all() as [
      {sql: string},
    ]
    const key = /\((CASE .* END)\)$/s.exec(sql)?.[1] ?? ''
    const plan = database.prepare(`EXPLAIN QUERY PLAN SELECT * FROM item WHERE ${key} < ?`).all('P') as {
      detail: string
    }[]
    assert.match(plan.map(({detail}) => detail).join(), /USING INDEX idx_item_by_p/)
  })

  it('of an older database have their index recreated', async (t) => {
    const program = checkProgram(amounts)
    const path = join(await temporaryFolder(t), 'app.db')
    await migrate(program, path)
    const database = new Driver(path)
    database.exec(`DROP INDEX "idx_item_by_p"; CREATE INDEX "idx_item_by_p" ON "item" ("p");
      INSERT INTO "item" (p, list) VALUES ('9', '[]'), ('10', '[]')`)
    database.close()
    const {steps, left} = await migrate(program, path)
    assert.deepEqual([steps.map(({action, index}) => [action, index]), left], [[['create_index', 'idx_item_by_p']], 0])
    assert.ok((await migrate(program, path)).up_to_date)
  })
})

const idsProgram = `@table type T { n: int }
@endpoint(kind: mutation) fn add(n: int) to Id[T] { return db.T.insert({ n: n }) }
@endpoint(kind: server) fn serve(n: int) to Id[T] { return db.T.insert({ n: n }) }
@endpoint(kind: query) fn all() to List[T] { return db.T.all().live("all") }
`

describe('invalid input of a caller', () => {
  it('is rejected and not stored', async (t) => {
    const source = `@table type Doc { text: str, v: List[float] }
@vector_index Doc.by_v on (v) { dimensions: 3 }
@table type Raw { b: bytes }
@vector_index Raw.by_b on (b) { dimensions: 2 }
@endpoint(kind: mutation) fn add(text: str, v: List[float]) to Id[Doc] { return db.Doc.insert({ text: text, v: v }) }
@endpoint(kind: mutation) fn change(id: Id[Doc], v: List[float]) to bool { return db.Doc.update(id, { v: v }) }
@endpoint(kind: mutation) fn raw(b: bytes) to Id[Raw] { return db.Raw.insert({ b: b }) }
@endpoint(kind: query) fn near(v: List[float]) to List[Doc] { return db.Doc.where({ v: { near: v } }).limit(1) }
@endpoint(kind: query) fn holding(text: str) to List[Doc] { return db.Doc.where({ text: { contains: text } }) }
@endpoint(kind: server) fn echo(text: str) to str { return text }
@endpoint(kind: server) fn keep(data: Json) to Json { return data }
@endpoint(kind: server) fn whole(n: int) to int { return n }
@endpoint(kind: server) fn part(x: float) to float { return x }
@endpoint(kind: server) fn named(m: Map[str, int]) to int { return m.len() }
@endpoint(kind: query) fn counted(n: int) to int { return n }
`
    const {post, get} = await serveDb(t, await temporaryFolder(t), source)
    const status = async (name: string, body: unknown) => {
      if (!name.startsWith('query/')) return (await post(`/api/${name}`, body)).status
      const words = Object.entries(body as object).map(([key, value]): [string, string] => [key, JSON.stringify(value)])
      return (await get(`/api/${name}?${new URLSearchParams(words)}`)).status
    }
    const routes: readonly [name: string, body: unknown, expected: number][] = [
      ['mutation/add', {text: 'a', v: [1, 2, 3]}, 200],
      ['mutation/add', {text: 'a', v: [1, 2]}, 400],
      ['mutation/change', {id: 1, v: [1, 2, 3, 4]}, 400],
      ['mutation/change', {id: 1, v: [3, 2, 1]}, 200],
      ['mutation/raw', {b: Buffer.alloc(8).toString('base64')}, 200],
      ['mutation/raw', {b: Buffer.alloc(9).toString('base64')}, 400],
      ['query/near', {v: [1, 2]}, 400],
      ['query/near', {v: [1, 2, 3]}, 200],
      ['query/holding', {text: 'a\0'}, 400],
      ['echo', '{"text": "\\ud800"}', 400],
      ['echo', '{"text": "\\ud83d\\ude00"}', 200],
      ['keep', '{"data": {"a": ["\\ud800"]}}', 400],
      ['keep', '{"data": {"\\udfff": 1}}', 400],
      ['keep', '{"data": 12345678901234567890}', 400],
      ['keep', '{"data": [1, {"a": 9007199254740993}]}', 400],
      ['keep', '{"data": 1e999}', 400],
      ['keep', '{"data": 1e300}', 200],
      ['keep', '{"data": [0.1, -0, 1E2, 123456789012345.678901]}', 200],
      ['keep', `{"data": ${'['.repeat(400)}${']'.repeat(400)}}`, 200],
      ['keep', `{"data": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400],
      ['keep', '{"data": 1, "data": 2}', 400],
      ['keep', '{"data": {"a": 1, "\\u0061": 2}}', 400],
      ['keep', '{"data": [{"a": 1}, {"a": 1, "b": {"a": "a"}}]}', 200],
      ['whole', '{"n": 9007199254740991}', 200],
      ['whole', '{"n": 9007199254740991.0}', 200],
      ['whole', '{"n": 9007199254740991.4}', 400],
      ['whole', '{"n": 9007199254740992}', 400],
      ['whole', '{"n": 1.0000000000000000001}', 400],
      ['whole', '{"n": -1e15}', 200],
      ['whole', '{"n": 1e400}', 400],
      ['part', '{"x": 0.12345678901234567890}', 200],
      ['part', '{"x": 1e-400}', 200],
      ['part', '{"x": 1e400}', 400],
      ['named', '{"m": {"a": 12345678901234567890}}', 400],
      ['named', '{"m": 12345678901234567890}', 400],
      ['query/counted', {n: 9007199254740991}, 200],
      ['mutation/raw', {b: `${'A'.repeat(10)}B=`}, 400],
      ['mutation/raw', {b: '-_-_-_-_-_8='}, 400],
    ]
    for (const [name, body, expected] of routes)
      assert.equal(await status(name, body), expected, `${name} ${JSON.stringify(body).slice(0, 80)}`)
    assert.deepEqual(((await post('/api/whole', '{"n": 1, "n": 2}')).json as {details: unknown}).details, [
      {param: 'n', code: 'duplicate'},
    ])
    assert.equal((await get('/api/query/counted?n=9007199254740991.4')).status, 400)
  })

  it('is rejected if no id is left', async (t) => {
    const {path, call} = await open(t, idsProgram)
    const database = new Driver(path)
    t.after(() => database.close())
    database.exec('INSERT INTO t (_id, n) VALUES (9007199254740991, 1)')
    for (const name of ['add', 'serve'])
      await assert.rejects(call(name, 2), {
        reason: 'INT_OVERFLOW',
        message: 'the ids of table T are used up: the largest is 9007199254740991',
      })
    assert.deepEqual(await call('all'), [{_id: 9007199254740991, n: 1}])
  })
})
