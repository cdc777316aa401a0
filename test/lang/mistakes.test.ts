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
  // Python
  ['‹def› g(): 1', 'parse.unexpected_token', 'Write fn, outside functions.'],
  ['let x = "a".‹strip›()', 'typecheck.unknown_method', "Did you mean 'trim'?"],
  ['let x = items.‹sorted›()', 'typecheck.unknown_method', "Did you mean 'sort'?"],
  ['for (k, v) in sizes.‹items›() {}', 'typecheck.unknown_method', "Did you mean 'entries'?"],
  // SQL and Prisma
  ['let x = db.Task.where({ n: 1 }).‹filter›({ done: true }).count()', 'typecheck.modifier', 'into one where({..})'],
  ['let x = db.Task.filter({ n: 1 }).limit(1).‹where›({ done: true })', 'typecheck.modifier', 'into one where({..})'],
  ['let x = db.Task.‹findMany›()', 'typecheck.unknown_method', "Did you mean 'where'?"],
  ['let x = db.Task.‹findUnique›(1)', 'typecheck.unknown_method', "Did you mean 'get'?"],
  ['db.Task.‹create›({})', 'typecheck.unknown_method', "Did you mean 'insert'?"],
  ['let x = db.Task.where(‹"n > 1"›)', 'typecheck.predicate_shape', 'where() needs an object of conditions.'],
  ['let x = db.Task.where({ n: { ‹$›gt: 1 } })', 'parse.unexpected_char', 'Operators of where have no $'],
]

describe('a mistake', () => {
  for (const [marked, code, advice] of mistakes)
    it(marked.replace(/[‹›]/g, ''), () => {
      const whole = program(marked)
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
