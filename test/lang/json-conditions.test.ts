/** Conditions on members of records and Json: random ones, compared with a direct evaluation, and their errors. */
import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram, explain, type FunctionType, toJson} from '../../src/lang/index.js'
import {type Random, seeded} from '../support/random.js'
import {program} from './databases.js'
import {opened} from './random-conditions.js'

const schema = `type Level = | Low | High
type Address { city: str, floor: Option[int], since: Date, rent: dec, level: Level, tags: List[str], far: bool }
type Person { address: Address, spare: Option[Address] }
@table type City { name: str }
@table type Visit { person: Person, extra: Json, note: Option[Json] }
`

interface Address {
  city: string
  floor?: number
  since: string
  rent: string
  level: {_tag: string}
  tags: string[]
  far: boolean
}

function address(random: Random): Address {
  const floor = random.pick([undefined, 0, 1, 2])
  return {
    city: random.pick(['Rome', 'Oslo', "L'Aquila", '']),
    ...(floor === undefined ? {} : {floor}),
    since: random.pick(['2024-01-31', '2024-02-29', '1999-12-31']),
    rent: random.pick(['9', '10.0', '10', '-1.50']),
    level: {_tag: random.pick(['Low', 'High'])},
    tags: random.pick([[], ['a'], ['a', 'b']]),
    far: random.chance(0.5),
  }
}

const members = ['n', 'a b', "it's", 'ü']
const jsonValues = [0, 1, 1.5, -2, true, false, '1', 'true', 'x', null, [1], {n: 1}]

interface Condition {
  text: string
  holds(row: {person: {address: Address; spare?: Address}; extra: Record<string, unknown>}): boolean
}

/** A condition on a field of an address, as source and as a function. */
function ofAddress(random: Random, of: 'address' | 'spare'): Condition {
  const at = (row: Parameters<Condition['holds']>[0]) => row.person[of]
  const wrap = (inner: string) => `person: { ${of}: { ${inner} } }`
  const city = random.pick(['Rome', "L'Aquila", 'None'])
  const floor = random.below(3)
  const cases: Condition[] = [
    {text: wrap(`city: "${city}"`), holds: (row) => at(row)?.city === city},
    {text: wrap(`city: { neq: "${city}" }`), holds: (row) => at(row)?.city !== city},
    {text: wrap('city: { starts_with: "R" }'), holds: (row) => at(row)?.city.startsWith('R') ?? false},
    {text: wrap('city: { contains: "om" }'), holds: (row) => at(row)?.city.includes('om') ?? false},
    {text: wrap('city: { in: ["Oslo", "Rome"] }'), holds: (row) => ['Oslo', 'Rome'].includes(at(row)?.city ?? '-')},
    {text: wrap(`floor: { gte: ${floor} }`), holds: (row) => (at(row)?.floor ?? -1) >= floor},
    {text: wrap(`floor: Some(${floor})`), holds: (row) => at(row)?.floor === floor},
    {text: wrap('floor: None'), holds: (row) => at(row)?.floor === undefined},
    {text: wrap('floor: { is_null: false }'), holds: (row) => at(row)?.floor !== undefined},
    {text: wrap('since: { lt: Date("2024-02-01") }'), holds: (row) => (at(row)?.since ?? '9') < '2024-02-01'},
    {text: wrap('rent: 10dec'), holds: (row) => Number(at(row)?.rent) === 10},
    {text: wrap('rent: { between: [0, 9.5dec] }'), holds: (row) => at(row)?.rent === '9'},
    {text: wrap('level: High'), holds: (row) => at(row)?.level._tag === 'High'},
    {text: wrap('tags: { contains: "b" }'), holds: (row) => at(row)?.tags.includes('b') ?? false},
    {text: wrap('far: true, city: { neq: "" }'), holds: (row) => at(row)?.far === true && at(row)?.city !== ''},
  ]
  return random.pick(cases)
}

/** A condition on a member of a Json, which can have another type. */
function ofJson(random: Random): Condition {
  const member = random.pick(members)
  const value = random.pick([0, 1, 1.5, true, false, '1', 'x'])
  const key = JSON.stringify(member)
  const at = (row: Parameters<Condition['holds']>[0]) => row.extra[member]
  const isNumber = (found: unknown): found is number => typeof found === 'number'
  const cases: Condition[] = [
    {text: `extra: { ${key}: ${JSON.stringify(value)} }`, holds: (row) => at(row) === value},
    {text: `extra: { ${key}: { neq: ${JSON.stringify(value)} } }`, holds: (row) => at(row) !== value},
    {text: `extra: { ${key}: { gt: 0.5 } }`, holds: (row) => isNumber(at(row)) && (at(row) as number) > 0.5},
    {text: `extra: { ${key}: { in: ["1", "x"] } }`, holds: (row) => at(row) === '1' || at(row) === 'x'},
    {text: `extra: { ${key}: { starts_with: "tr" } }`, holds: (row) => at(row) === 'true'},
    {
      text: `extra: { ${key}: { n: 1 } }`,
      holds: (row) => (at(row) as {n?: unknown} | null | undefined)?.n === 1,
    },
    {text: `extra: { ${key}: { is_null: true } }`, holds: (row) => (at(row) ?? null) === null},
  ]
  return random.pick(cases)
}

function condition(random: Random, depth = 0): Condition {
  const kind = random.below(depth < 2 ? 6 : 3)
  if (kind < 2) return ofAddress(random, random.pick(['address', 'spare']))
  if (kind === 2) return ofJson(random)
  const [a, b] = [condition(random, depth + 1), condition(random, depth + 1)]
  if (kind === 3) return {text: `not: { ${a.text} }`, holds: (row) => !a.holds(row)}
  const isAnd = kind === 4
  return {
    text: `${isAnd ? 'and' : 'or'}: [{ ${a.text} }, { ${b.text} }]`,
    holds: (row) => (isAnd ? a.holds(row) && b.holds(row) : a.holds(row) || b.holds(row)),
  }
}

describe('conditions on members of records and Json', () => {
  it('select the rows that a direct evaluation selects', async () => {
    const random = seeded(66)
    const rows = Array.from({length: 40}, () => {
      const spare = random.chance(0.5) ? {spare: address(random)} : {}
      const extra = Object.fromEntries(members.map((name) => [name, random.pick(jsonValues)]))
      return {person: {address: address(random), ...spare}, extra}
    })
    const conditions = Array.from({length: 150}, () => condition(random))
    const queries = conditions.map(
      ({text}, i) =>
        `@endpoint(kind: query) fn q${i}() to List[int] { db.Visit.where({ ${text} }).map(visit => visit._id) }\n`,
    )
    const checked = program(
      `${schema}@endpoint(kind: mutation) fn add(person: Person, extra: Json) to Id[Visit] { db.Visit.insert({ person, extra }) }\n${queries.join('')}`,
    )
    const app = await opened(checked)
    const call = async (name: string, ...args: unknown[]) => {
      const target = app.program.functions.find((made) => made.name === name) as FunctionType
      return toJson((await app.call(target, args)).value)
    }
    try {
      for (const {person, extra} of rows) await call('add', person, extra)
      for (const [i, {text, holds}] of conditions.entries()) {
        const expected = rows.flatMap((row, at) => (holds(row) ? [at + 1] : []))
        assert.deepEqual(await call(`q${i}`), expected, text)
      }
    } finally {
      app.close()
    }
  })

  it('are one statement', () => {
    const source = `${schema}@endpoint(kind: query) fn f() to int { db.Visit.where({ person: { address: { city: "Rome" } } }).count() }\n`
    const [row] = explain(program(source), {query: undefined, all: false})
    assert.deepEqual(row?.plan.predicate, {op: 'eq', field: 'person.address.city'})
    assert.match(row?.plan.sql ?? '', /WHERE json_extract\("person",'\$\.address\.city'\) = \?$/)
  })

  it('have errors at their place', () => {
    const found = (body: string) => {
      const source = `${schema}fn f() to int { db.Visit.where({ ${body} }).count() }\n`
      return checkProgram(source).diagnostics.map(({code, message, start, end}) => [
        code,
        source.slice(start, end),
        message,
      ])
    }
    assert.deepEqual(found('person: { adress: { city: "x" } }'), [
      ['typecheck.unknown_field', 'adress', "Person has no field 'adress'."],
    ])
    assert.deepEqual(found('person: { address: { floor: "x" } }'), [
      ['typecheck.mismatch', '"x"', 'Expected Option[int], found str.'],
    ])
    assert.deepEqual(found('extra: { a: [1] }'), [
      [
        'typecheck.predicate_operator',
        'a',
        "'extra.a' can be compared with a number, a str or a bool, because it is a member of a Json.",
      ],
    ])
    assert.deepEqual(found('extra: { a: { lt: true } }')[0]?.[0], 'typecheck.predicate_operator')
    assert.deepEqual(found('extra: { "a\\"b": 1 }')[0]?.[0], 'typecheck.predicate_shape')
    assert.deepEqual(found('person: { address: { city: { matches: "x" } } }')[0]?.[0], 'typecheck.predicate_operator')
  })
})
