/** Mistakes of people who know other languages: one error each, at its place, with what to write. */
import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram} from '../../src/lang/index.js'

const program = (body: string) => `type Size { all: int }
@table type Task { title: str, done: bool, n: int }
fn f() {
    let sizes: Map[str, int] = { a: 1 }
    let items = [1, 2]
    ${body}
}
`

/** Code with the reported part between marks, the code of the diagnostic, and its advice. */
const mistakes: readonly (readonly [body: string, code: string, advice: string])[] = [
  // TypeScript
  ['let x = items.‹length›', 'typecheck.unknown_field', 'Call the method: .len(...)'],
  ['db.Task.insert({ title: "a"\n ‹done›: true, n: 1 })', 'parse.expected_token', 'Write a comma between the entries'],
  [
    'let x: Size = ‹db.Task.where({ n: 1 }).aggregate({ all: count(), most: max(n) })›',
    'typecheck.mismatch',
    'Size lacks most: declare these fields',
  ],
  ['let x: Size = ‹db.Task.aggregate({ all: avg(n) })›', 'typecheck.mismatch', 'Size.all is int, not Option[float].'],
  [
    'let x: List[Size] = ‹db.Task.aggregate({ all: avg(n) })›',
    'typecheck.mismatch',
    'Size.all is int, not Option[float].',
  ],
  [
    'let x: List[Task] = ‹db.Task.all().map(task => { ...task, n: "a" })›',
    'typecheck.mismatch',
    'Task.n is int, not str.',
  ],
  ['let x: Size = ‹[{ all: "a" }].first()›', 'typecheck.mismatch', 'Size.all is int, not str.'],
  ['let x = "a".‹toUpperCase›()', 'typecheck.unknown_method', "Did you mean 'to_upper'?"],
  ['let x = items.‹includes›(1)', 'typecheck.unknown_method', "Did you mean 'contains'?"],
  ['let x = items.‹some›(n => n > 1)', 'typecheck.unknown_method', "Did you mean 'any'?"],
  ['let x = sizes.‹delete›("a")', 'typecheck.unknown_method', "Did you mean 'remove'?"],
  ['let x = true ‹?› 1 : 2', 'parse.unexpected_token', 'Write if a { b } else { c }.'],
  ['let x = sizes.get("a") ‹?›? 2', 'parse.unexpected_token', 'Write option.unwrap_or(other).'],
  ['let x: Option[int] = ‹undefined›', 'typecheck.null', 'There is no undefined; write None.'],
  ['let x: ‹string› = "a"', 'typecheck.unknown_type', "Did you mean 'str'?"],
  ['‹const› x = 1', 'parse.unexpected_token', 'Write let; const declares constants outside functions.'],
  ['‹throw› "no"', 'parse.unexpected_token', 'There are no exceptions: return Error(...).'],
  ['let x = ‹"{items}"›', 'lint.text_interpolation', 'f"{items}"'],
  ['let x = items.‹forEach›(n => print(n))', 'typecheck.unknown_method', 'Write for item in items { ... }.'],
  [`let x = ‹\`n: \${items}\`›`, 'parse.unexpected_char', 'f"{x}" contains the value of x.'],
  ['‹console›.log("a")', 'typecheck.undefined', 'Write print(x) or log.info(x).'],
  ['let x = ‹JSON›.parse("1")', 'typecheck.undefined', 'Write std.json.parse(text)'],
  ['let x = ‹Math›.max(1, 2)', 'typecheck.undefined', 'Write std.math.max(a, b)'],
  ['let x = Date.‹now›()', 'typecheck.undefined', 'Write DateTime.now()'],
  ['let x = ‹new› Date()', 'parse.unexpected_token', 'the time as DateTime.now()'],
  ['let x = ‹await› f()', 'parse.unexpected_token', 'Calls return their values.'],
  ['let x = items.map(‹function›(n) { return n })', 'parse.unexpected_token', 'Write n => n + 1'],
  ['let x = items[0]‹!›', 'parse.unexpected_token', 'Write option.unwrap().'],
  ['let x = sizes.‹a›', 'typecheck.unknown_field', 'Write ["a"] or .get("a").'],
  ['if (items.is_empty()) ‹return›', 'parse.expected_token', 'Write the body in braces'],
  ['for (‹const› n of items) { print(n) }', 'parse.unexpected_token', 'Write for item in items { ... }.'],
  ['for (‹let› i = 0; i < 3; i++) { print(i) }', 'parse.unexpected_token', 'Write for i in range(0, 10) { ... }.'],
  ['let mut x = 1\n x‹++›', 'parse.unexpected_token', 'Write x += 1.'],
  ['let x = items ‹===› items', 'parse.unexpected_char', 'Write is.'],
  ['let x = true ‹&&› false', 'parse.unexpected_char', 'Write and'],
  ['let x = true ‹||› false', 'parse.unexpected_char', 'Write or.'],
  ['let x = ‹parseInt›("1")', 'typecheck.undefined', 'Write int(text).'],
  ['let x: Array‹<›int> = []', 'parse.unexpected_token', 'Write List[T].'],
  ['let x: int‹[›] = []', 'parse.unexpected_token', 'Write List[int].'],
  ['let x = items[0] ‹as› float', 'parse.unexpected_token', 'There are no casts.'],
  ['let ‹{›a, b} = sizes', 'parse.unexpected_token', 'Only tuples have patterns'],
  ['‹switch› (1) { }', 'parse.unexpected_token', 'Write match x'],
  ['let x = ‹Size›(1)', 'typecheck.undefined', 'Write Size { all: ... }.'],
  ['let x = ‹sizes.get("a") + 1›', 'typecheck.operator', 'The value may be absent'],
  ['let x = DateTime.now().‹toISOString›()', 'typecheck.unknown_method', 'Write str(time).'],
  ['let x = DateTime.now().‹getTime›()', 'typecheck.unknown_method', "Did you mean 'to_ms'?"],
  // Python
  ['‹def› g(): 1', 'parse.unexpected_token', 'Write fn, outside functions.'],
  ['let x = "a".‹strip›()', 'typecheck.unknown_method', "Did you mean 'trim'?"],
  ['let x = items.‹sorted›()', 'typecheck.unknown_method', "Did you mean 'sort'?"],
  ['for (k, v) in sizes.‹items›() {}', 'typecheck.unknown_method', "Did you mean 'entries'?"],
  ['let x = items[0‹:›1]', 'parse.unexpected_token', 'Write items.slice(from, until)'],
  ['let x = [n * 2 ‹for› n in items]', 'parse.unexpected_token', 'Write items.map(n => n + 1)'],
  ['let x = ‹"a" * 3›', 'typecheck.operator', 'Write text.repeat(n).'],
  ['let x = 1 ‹if› true else 2', 'parse.unexpected_token', 'Write if condition { a } else { b }.'],
  ['let x = 1 ‹in› items', 'parse.unexpected_token', 'Write list.contains(x)'],
  ['let x = 1 ‹not› in items', 'parse.unexpected_token', 'Write not list.contains(x).'],
  ['if ‹items› and true { }', 'typecheck.operator', 'Write not x.is_empty().'],
  ['‹elif› true { }', 'parse.unexpected_token', 'Write else if.'],
  ['let x = ",".‹join›(items)', 'typecheck.unknown_method', 'Write items.join(",")'],
  ['let x = "{}".‹format›(1)', 'typecheck.unknown_method', 'Write f"{x}".'],
  ['let x = ‹True›', 'typecheck.undefined', 'Write true.'],
  ['let x = ‹lambda› n: n + 1', 'parse.unexpected_token', 'Write n => n + 1'],
  ['let x = ‹range(3)›', 'typecheck.arg_count', 'Write range(0, n).'],
  ['for i, n in ‹enumerate›(items) { }', 'typecheck.undefined', 'Write for item, index in items { ... }.'],
  ['‹print("a", "b")›', 'typecheck.arg_count', 'print(f"{a} {b}")'],
  ['let x = ‹datetime›.now()', 'typecheck.undefined', 'Write DateTime.now()'],
  ['let x = ‹Date.today() - 7›', 'typecheck.operator', 'such as Duration.days(7)'],
  ['let x = ‹re›.match("a", "b")', 'typecheck.undefined', 'Write std.regex.is_match(text, pattern)'],
  ['let x = 2 ‹**› 3', 'parse.unexpected_char', 'Write std.math.pow(x, y).'],
  ['‹import› json', 'parse.unexpected_token', 'There are no imports'],
  // SQL and Prisma
  ['let x = db.Task.where({ n: 1 }).‹filter›({ done: true }).count()', 'typecheck.modifier', 'into one where({..})'],
  ['let x = db.Task.filter({ n: 1 }).limit(1).‹where›({ done: true })', 'typecheck.modifier', 'into one where({..})'],
  ['let x = db.Task.‹findMany›()', 'typecheck.unknown_method', "Did you mean 'where'?"],
  ['let x = db.Task.‹findUnique›(1)', 'typecheck.unknown_method', "Did you mean 'get'?"],
  ['db.Task.‹create›({})', 'typecheck.unknown_method', "Did you mean 'insert'?"],
  ['let x = db.Task.where(‹"n > 1"›)', 'typecheck.predicate_shape', 'where() needs an object of conditions.'],
  [
    'let x = db.Task.where(‹{ n > 1 }›)',
    'typecheck.predicate_shape',
    'Write { column: value } or { column: { gt: 1 } }.',
  ],
  ['let x = db.Task.where({ n: { ‹">"›: 1 } })', 'typecheck.predicate_operator_unknown', "Did you mean 'gt'?"],
  ['let x = db.Task.where({ title: { ‹like›: "a%" } })', 'typecheck.predicate_operator_unknown', 'Write contains or'],
  ['let x = db.Task.where({ n: { ‹equals›: 1 } })', 'typecheck.predicate_operator_unknown', "Did you mean 'eq'?"],
  ['let x = db.Task.where({ ‹OR›: [{ n: 1 }] })', 'typecheck.unknown_column', 'Write or.'],
  ['let x = db.Task.order_by(‹"n desc"›)', 'typecheck.unknown_column', 'Write order_by(n, desc).'],
  ['let x = db.Task.order_by(‹{ n: desc }›)', 'typecheck.column_constant', 'order_by(column, desc)'],
  ['let x = db.Task.‹count›({ n: 1 })', 'typecheck.arg_count', 'Write filter({..}).count()'],
  ['db.Task.‹update›({ done: true })', 'typecheck.arg_count', 'where({..}).update({..})'],
  ['db.Task.insert(‹[{ title: "a", done: true, n: 1 }]›)', 'typecheck.arg_mismatch', 'Write for row in rows'],
  ['let x = db.Task.‹join›(1)', 'typecheck.unknown_method', "Did you mean 'include'?"],
  ['let x = db.Task.‹findFirst›({ n: 1 })', 'typecheck.unknown_method', "Did you mean 'where'?"],
  ['let x = db.Task.get(1)‹?›.title', 'typecheck.try_context', 'needs a function that returns Option'],
  ['db.‹transaction›(() => 1)', 'typecheck.unknown_method', 'A mutation is one transaction'],
  ['let x = db.Task.where({ n: { ‹$›gt: 1 } })', 'parse.unexpected_char', 'Operators of where have no $'],
]

/** The same, of declarations. */
const declarations: typeof mistakes = [
  ['‹table› A { b: int }', 'parse.unexpected_token', 'Write @table type Task'],
  ['@table ‹A› { b: int }', 'parse.expected_token', 'Write @table type Task'],
  ['‹interface› A { b: int }', 'parse.unexpected_token', 'Write type Point'],
  ['‹enum› A { B, C }', 'parse.unexpected_token', 'Write type State'],
  ['type A = ‹{› b: int }', 'parse.unexpected_token', 'type A { x: int }'],
  ['type A = ‹"b"› | "c"', 'parse.unexpected_token', 'Variants are capitalised names'],
  ['type A { b‹?›: int }', 'parse.unexpected_token', 'Write b: Option[T].'],
  ['type A { b: int‹?› }', 'parse.unexpected_token', 'Write Option[int].'],
  ['type A { b: str ‹|› null, c: int }', 'parse.unexpected_token', 'Write Option[str].'],
  ['@table type A { b: Option‹<›int>, c: str }', 'parse.unexpected_token', 'Write Option[T].'],
  ['@table type A { b: ‹varchar› }', 'typecheck.unknown_type', "Did you mean 'str'?"],
  ['@table type A { b: str ‹not› null, c: int }', 'parse.unexpected_token', 'Columns are required'],
  ['@table type A { b: int ‹primary› key }', 'parse.unexpected_token', 'the primary key _id'],
  ['@table type A { b: int ‹default› 1 }', 'parse.unexpected_token', 'done: bool = false'],
  ['@table type A { b: ‹Task› }', 'typecheck.column_type', 'Id[Task]'],
  ['@table type A { b: ‹timestamp› }', 'typecheck.unknown_type', "Did you mean 'DateTime'?"],
  ['@table type A { b: DateTime = ‹DateTime.now()› }', 'typecheck.constant', 'if it is now()'],
  ['@index Task ‹on› (n)', 'parse.expected_token', 'Write @index Table.name on (column).'],
  ['@index Task.i on ‹n›', 'parse.expected_token', 'Write the columns in parentheses'],
  ['‹function› g() { }', 'parse.unexpected_token', 'Write fn name(x: int) to int'],
  ['‹export› fn g() { }', 'parse.unexpected_token', 'the whole program is one file'],
  ['fn g(a: int)‹:› int { return a }', 'parse.expected_token', 'Write fn name() to int { ... }.'],
  ['fn g(a: int) to int ‹=>› a', 'parse.expected_token', 'Write the body in braces'],
  ['@test fn g(‹a›: int) { print(a) }', 'typecheck.arg_count', 'A test is called without arguments'],
]

const cases = [
  ...mistakes.map(([body, ...expected]) => [program(body), body, ...expected] as const),
  ...declarations.map(([text, ...expected]) => [`${program('')}${text}\n`, text, ...expected] as const),
]

describe('a mistake', () => {
  for (const [whole, marked, code, advice] of cases)
    it(marked.replace(/[‹›]/g, ''), () => {
      const [start, end] = [whole.indexOf('‹'), whole.indexOf('›') - 1]
      const found = checkProgram(whole.replace(/[‹›]/g, '')).diagnostics
      assert.deepEqual(
        found.map((each) => [each.code, each.start, each.end]),
        [[code, start, end]],
      )
      const text = found.flatMap(({message, hints = []}) => [message, ...hints]).join(' ')
      assert.ok(text.includes(advice), text)
    })

  it('gets no suggestion of another short word', () => {
    const [found] = checkProgram(program('let x = "a".set(1)')).diagnostics
    assert.equal(found?.message, "str has no method 'set'.")
    assert.deepEqual(found?.fixes ?? [], [])
  })
})
