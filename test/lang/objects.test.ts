import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {
  Application,
  checkProgram,
  type FunctionType,
  formatSource,
  migrate,
  pureFunction,
  toJson,
} from '../../src/lang/index.js'
import {temporaryFolder} from '../support/temporary.js'

const result = (source: string) => {
  const {diagnostics, functions} = checkProgram(source)
  assert.deepEqual(diagnostics, [])
  return toJson(pureFunction(functions.at(-1) as FunctionType)())
}
const messages = (source: string) => checkProgram(source).diagnostics.map(({message}) => message)

const point = 'type Point { x: int, y: int, name: Option[str] }\n'

describe('an object with all columns of a table', () => {
  it('is a row, and one without is not', async () => {
    const source = `@table type Task { title: str, n: int, note: Option[str] }
fn marked(tasks: List[Task]) to List[Task] { tasks.map(task => { ...task, title: task.title + "!" }) }
fn notes(tasks: List[Task]) to List[Option[str]] { tasks.map(task => task.note) }
@test fn rows() {
    db.Task.insert({ title: "a", n: 1 })
    let tasks = marked(db.Task.all())
    assert(tasks[0].title is "a!" and notes(tasks) is [None])
}
`
    const checked = checkProgram(source)
    assert.deepEqual(checked.diagnostics, [])
    const application = await Application.open(checked, {path: ':memory:'})
    try {
      await application.call(checked.tests[0] as FunctionType, [])
    } finally {
      application.close()
    }
    const lacking = source.replace('{ ...task, title: task.title + "!" }', '{ title: task.title, n: 1 }')
    const [found] = checkProgram(lacking).diagnostics
    assert.deepEqual(found?.hints, ['The value lacks _id.'])
  })
})

describe('an object', () => {
  it('takes the value of a variable with the name of its key', () => {
    const source = `${point}type Shape = | Dot { at: Point } | Empty
fn only(x: int) to Map[str, int] { return { x } }
fn f() to Json {
    let (x, y) = (1, 2)
    let name = "a"
    let loose = { x, y }
    let typed: Point = { x, y, name }
    let at = Point { x, y: x + y }
    let dot = Dot { at }
    let other: Option[Point] = { x, y }
    let text = { name }
    std.json.parse(std.json.stringify([(loose, typed, at, dot, only(x), other, text)])).unwrap()
}
`
    assert.deepEqual(result(source), [
      [{x: 1, y: 2}, {x: 1, y: 2, name: 'a'}, {x: 1, y: 3}, {_tag: 'Dot', at: {x: 1, y: 3}}, {x: 1}, {x: 1, y: 2}, 'a'],
    ])
  })

  it('takes the fields of another value, except those that it has itself', () => {
    const source = `${point}fn made(log: List[int]) to Point { return { x: log.len(), y: 0, name: "m" } }
fn f() to List[Json] {
    let p = Point { x: 1, y: 2 }
    let moved: Point = { ...p, x: p.x + 5 }
    let loose = { ...moved, z: 1 }
    let from_loose = Point { ...{ x: 7, y: 8 }, name: "b" }
    let from_call: Point = { ...made([0, 0]), y: 3 }
    let base: Map[str, int] = { a: 1, b: 2 }
    let map: Map[str, int] = { ...base, b: 3, c: 4 }
    return [moved, loose, from_loose, from_call, map, { ...p }].map(x => std.json.parse(std.json.stringify(x)).unwrap())
}
`.replace(
      '[moved, loose, from_loose, from_call, map, { ...p }].map(x => std.json.parse(std.json.stringify(x)).unwrap())',
      'std.json.parse(std.json.stringify((moved, loose, from_loose, from_call, map, { ...p }))).map(x => [x]).unwrap()',
    )
    assert.deepEqual(result(source), [
      [
        {x: 6, y: 2},
        {x: 6, y: 2, z: 1},
        {x: 7, y: 8, name: 'b'},
        {x: 2, y: 3, name: 'm'},
        {a: 1, b: 3, c: 4},
        {x: 1, y: 2},
      ],
    ])
  })

  it('can be inserted as a changed copy of a row', async (t) => {
    const program = checkProgram(`@table type Task { title: str, done: bool, note: Option[str] }
@endpoint(kind: mutation) fn copies(title: str) to List[Task] {
    let done = false
    let id = db.Task.insert({ title, done, note: "n" })
    let row = db.Task.get(id).unwrap()
    db.Task.insert({ ...row, done: true })
    db.Task.update(id, { title: "first" })
    return db.Task.where({ done }) + db.Task.filter({ title, done: true })
}
`)
    assert.deepEqual(program.diagnostics, [])
    const path = join(await temporaryFolder(t), 'app.db')
    await migrate(program, path)
    const application = await Application.open(program, {path})
    t.after(() => application.close())
    const reply = await application.call(program.functions[0] as FunctionType, ['a'])
    assert.deepEqual(toJson(reply.value), [
      {_id: 1, title: 'first', done: false, note: 'n'},
      {_id: 2, title: 'a', done: true, note: 'n'},
    ])
  })

  it('reports what a spread cannot add', () => {
    const table = '@table type Task { title: str }\n'
    assert.deepEqual(messages(`${point}fn f() to Point { return { ...{ x: 1, z: 2 } } }\n`), [
      'Point needs y.',
      "Point has no field 'z', which '...' adds.",
    ])
    assert.deepEqual(messages('fn f() { let a = { ...[1], b: 2 } }\n'), [
      "'...' needs a record, a row or an object, found List[int].",
    ])
    assert.deepEqual(
      messages(`${point}fn f(p: Point) to Point { return { x: 1, ...p } }\n`)[0],
      "'...' must be the first entry of an object.",
    )
    assert.deepEqual(messages(`${table}fn f(t: Task) { db.Task.where({ ...t }) }\n`), [
      "'...' is not allowed in conditions.",
    ])
    assert.deepEqual(messages(`${table}fn f(t: Task) { db.Task.update(1, { ...t, title: "a" }) }\n`), [
      "update() takes only the columns that change; '...' is not allowed.",
    ])
  })

  it('stays a block where a block was possible', () => {
    assert.equal(
      result('fn id(n: int) to int { n }\nfn f() to int { let n = 1\n    id({ n }) + if n is 1 { n } else { n } }\n'),
      2,
    )
  })

  it('is formatted', () => {
    const source = 'fn f(p: P) to P {\n    return { ...p, x, y: 1 }\n}\n'
    assert.equal(formatSource(source.replace('...p', '... p').replace('x, y', 'x ,y')), source)
  })
})

describe('the formatter', () => {
  it('indents the conditions of and like other entries', () => {
    const source = `@table type Task { n: int }
fn f() to List[Task] {
    db.Task
        .where({
            and: [{ n: 1 }],
            or: [{ n: 2 }],
        })
        .limit(1)
}
`
    assert.equal(formatSource(source), source)
  })
})

describe('for', () => {
  it('destructures the items of a list and the values of a map', () => {
    const source = `fn f() to List[str] {
    let mut lines = []
    for (n, (text, _)) in [(1, ("a", true)), (2, ("b", false))] { lines += [text + n] }
    let sizes: Map[str, (int, int)] = { box: (3, 4) }
    for name, (w, h) in sizes { lines += [name + w * h] }
    for _, i in [7] { lines += [str(i)] }
    return lines
}
`
    assert.deepEqual(result(source), ['a1', 'b2', 'box12', '0'])
    assert.deepEqual(messages('fn f() { for Some(n) in [Some(1)] {} }\n').length > 0, true)
    assert.deepEqual(messages('fn f() { for (a, 1) in [(1, 1)] {} }\n'), [
      'for needs a pattern that always matches; use match for other patterns.',
    ])
  })
})

describe('a call', () => {
  it('can omit arguments that are options', () => {
    const source = `fn label(name: str, unit: Option[str], size: int = 1) to str { name + unit.unwrap_or("") + size }
fn f() to List[str] { [label("a"), label("a", size = 2), label("a", Some("m"))] }
`
    assert.deepEqual(result(source), ['a1', 'a2', 'am1'])
    assert.deepEqual(messages('fn g(a: int, b: Option[int]) {}\nfn f() { g() }\n'), [
      'Expected 1 to 2 argument(s), found 0.',
    ])
  })
})

describe('a constant', () => {
  it('can be used in functions, conditions and other constants', () => {
    const source = `/// The most.
const most = 3
const names: List[str] = ["a", "b"]
const label = "max " + most * 2
const Limits: Map[str, int] = { low: -1, high: most }
type Level = | Low | High(by: int)
const usual = High(most)
fn size(l: Level) to int { match l { Low => 0
    High(n) => n } }
fn f() to (str, int, int) { (label + names[0], Limits["high"] + size(usual), Limits["low"]) }
`
    assert.deepEqual(result(source), ['max 6a', 6, -1])
    assert.equal(formatSource('const  a:int=1\n'), 'const a: int = 1\n')
  })

  it('has its error where it is used, and is of another dialect otherwise', () => {
    assert.deepEqual(messages('const a: int = "x"\nfn f() to int { a + a }\n'), ['Expected int, found str.'])
    assert.deepEqual(messages('const theme = Theme.dark(1) { a: 1 }\nfn f() {}\n'), [
      'const is outside the data language and is skipped.',
    ])
    assert.deepEqual(messages('const a = b\nconst b = 1\nfn f() to int { a }\n'), [
      "Constant 'b' is declared after the constant that uses it.",
    ])
    const doubling = Array.from({length: 40}, (_, i) => `const c${i + 1} = [c${i}, c${i}]\n`).join('')
    const found = messages(`const c0 = 1\n${doubling}fn f() { print(c12) }\n`)
    assert.ok(found.includes('A constant has at most 5000 parts.'), found.join(' '))
  })
})

describe('a column of variants without fields', () => {
  it('can be filtered and indexed', async (t) => {
    const program = checkProgram(`type Status = | Open | Closed | Draft
@table type Task { title: str, status: Status, was: Option[Status] }
@index Task.by_status on (status, title) unique
@endpoint(kind: mutation) fn add(title: str, status: Status, was: Option[Status]) to Result[Id[Task]] {
    db.Task.insert({ title, status, was })
}
@endpoint(kind: query) fn some(one: Status, several: List[Status]) to List[List[str]] {
    return [
        db.Task.filter({ status: one }),
        db.Task.where({ status: { neq: Open } }),
        db.Task.where({ status: { in: [Closed, Draft] } }),
        db.Task.where({ status: { in: several } }),
        db.Task.where({ was: Open }),
        db.Task.where({ was: { neq: Open } }),
        db.Task.where({ was: None })
    ].map(rows => rows.map(row => row.title).sort())
}
`)
    assert.deepEqual(program.diagnostics, [])
    const path = join(await temporaryFolder(t), 'app.db')
    await migrate(program, path)
    assert.equal((await migrate(program, path)).left, 0)
    const application = await Application.open(program, {path})
    t.after(() => application.close())
    const call = async (name: string, ...args: unknown[]) => {
      const made = program.functions.find((one) => one.name === name) as FunctionType
      return toJson((await application.call(made, args)).value)
    }
    const [open, closed, draft] = ['Open', 'Closed', 'Draft'].map((tag) => ({_tag: tag}))
    await call('add', 'a', open, null)
    await call('add', 'b', closed, open)
    await call('add', 'c', draft, closed)
    assert.deepEqual(await call('some', closed, [open, draft]), [
      ['b'],
      ['b', 'c'],
      ['b', 'c'],
      ['a', 'c'],
      ['b'],
      ['a', 'c'],
      ['a'],
    ])
    assert.deepEqual(await call('add', 'a', open, null), 'another row of task has the same status and title')
  })
})
