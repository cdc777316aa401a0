import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram} from '../../src/lang/index.js'
import {compareConditions, conditionsPerTable, functionOf, opened} from './random-conditions.js'

/** `where-property.slow.ts` compares more conditions. */
const tables = 2

describe(`${tables * conditionsPerTable} random conditions`, () => {
  for (let seed = 1; seed <= tables; seed++)
    it(`match the rows that a direct comparison matches: table ${seed}`, () => compareConditions(seed))
})

describe('the rules for None', () => {
  const rows = `@table type T { a: Option[int] }
@endpoint(kind: mutation)
fn fill() { db.T.insert({ a: None }); db.T.insert({ a: 1 }); db.T.insert({ a: 2 }) }
`
  const cases: readonly (readonly [predicate: string, ids: number[]])[] = [
    ['{ a: 1 }', [2]],
    ['{ a: None }', [1]],
    ['{ a: { neq: 1 } }', [1, 3]],
    ['{ a: { neq: None } }', [2, 3]],
    ['{ a: { lt: 2 } }', [2]],
    ['{ not: { a: { lt: 2 } } }', [1, 3]],
    ['{ not: { not: { a: { lt: 2 } } } }', [2]],
    ['{ a: { in: [1, 5] } }', [2]],
    ['{ not: { a: { in: [1, 5] } } }', [1, 3]],
    ['{ a: { is_null: true } }', [1]],
    ['{ a: { is_null: false } }', [2, 3]],
    ['{ not: { a: { is_null: true } } }', [2, 3]],
    ['{ a: { gte: 1, lt: 2 } }', [2]],
    ['{ or: [{ a: 1 }, { a: None }] }', [1, 2]],
    ['{ or: [] }', []],
    ['{ and: [] }', [1, 2, 3]],
    ['{ not: { or: [] } }', [1, 2, 3]],
    ['{ not: { and: [] } }', []],
    ['{ and: [{ or: [] }, { a: 1 }] }', []],
    ['{ or: [{ and: [] }, { a: 1 }] }', [1, 2, 3]],
  ]
  for (const [predicate, ids] of cases)
    it(`hold for where(${predicate})`, async () => {
      const program = checkProgram(
        `${rows}@endpoint(kind: query) fn ask() to List[T] { return db.T.where(${predicate}) }\n`,
      )
      assert.ok(!program.hasErrors)
      const application = await opened(program)
      await application.call(functionOf(program, 'fill'), [])
      const {value} = await application.call(functionOf(program, 'ask'), [])
      application.close()
      assert.deepEqual(
        (value as {_id: number}[]).map(({_id}) => _id),
        ids,
      )
    })
})

describe('a value passed through an untyped function', () => {
  const cases: readonly (readonly [column: string, stored: string, predicate: string, asked: string])[] = [
    ['str', '"a"', '{ c: x }', '"a"'],
    ['str', '"a"', '{ c: { in: x } }', '["a", "b"]'],
    ['str', '"abc"', '{ c: { contains: x } }', '"B"'],
    ['float', '1.5', '{ c: { gte: x } }', '1'],
    ['bool', 'true', '{ c: x }', 'true'],
    ['bool', 'true', '{ c: { in: x } }', '[true]'],
    ['List[str]', '["a"]', '{ c: { contains: x } }', '"a"'],
    ['List[int]', '[1]', '{ c: { contains: x } }', '1'],
    ['List[float]', '[1.5]', '{ c: { contains: x } }', '1.5'],
    ['List[float]', '[1.0]', '{ c: { contains: x } }', '1'],
    ['List[bool]', '[true]', '{ c: { contains: x } }', 'true'],
    ['List[dec]', '[1.50dec]', '{ c: { contains: x } }', '1.50dec'],
  ]
  for (const [type, stored, predicate, asked] of cases)
    it(`finds ${stored} by ${predicate} with ${asked}`, async () => {
      const program = checkProgram(`@table type T { c: ${type} }
fn found(x) to int { return db.T.where(${predicate}).count() }
@endpoint(kind: mutation)
fn ask() to int {
    db.T.insert({ c: ${stored} })
    return found(${asked})
}
`)
      assert.ok(!program.hasErrors)
      const application = await opened(program)
      const {value} = await application.call(functionOf(program, 'ask'), [])
      application.close()
      assert.equal(value, 1)
    })
})

describe('bytes', () => {
  for (const [type, stored, predicate] of [
    ['bytes', 'b', '{ c: b }'],
    ['bytes', 'b', '{ c: { in: [b] } }'],
    ['bytes', 'b', '{ c: { in: list } }'],
    ['List[bytes]', 'list', '{ c: { contains: b } }'],
  ] as const)
    it(`in ${type} are found by ${predicate}`, async () => {
      const program = checkProgram(`@table type T { c: ${type} }
@endpoint(kind: mutation)
fn ask(b: bytes) to int {
    let list = [b]
    db.T.insert({ c: ${stored} })
    return db.T.where(${predicate}).count()
}
`)
      assert.ok(!program.hasErrors)
      const application = await opened(program)
      const {value} = await application.call(functionOf(program, 'ask'), [Buffer.from([0, 255, 39])])
      application.close()
      assert.equal(value, 1)
    })
})
