import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Application} from '../../src/lang/index.js'
import {type Random, seeded} from '../support/random.js'
import {program} from './databases.js'

/** A random condition on the columns of `Row`, with operands of one type on each side. */
function condition(random: Random, depth = 0): string {
  const inner = () => condition(random, depth + 1)
  if (depth < 3 && random.chance(0.6))
    return random.pick([
      () => `(${inner()} and ${inner()})`,
      () => `(${inner()} or ${inner()})`,
      () => `not (${inner()})`,
    ])()
  const order = random.pick(['<', '<=', '>', '>=', 'is', 'isnt'])
  const equal = random.pick(['is', 'isnt'])
  return random.pick([
    () => `${number(random)} ${order} ${number(random)}`,
    () => `x * 2.0 ${order} ${random.pick(['x', '0.5', 'n + x', '-x'])}`,
    () => `d ${order} ${random.pick(['d', '0dec', '1.50dec', '12.50dec'])}`,
    () => `s ${order} ${random.pick(['s', '"b"', '"é"', '"it\'s"'])}`,
    () => `s.${random.pick(['contains', 'starts_with'])}(${random.pick(['"b"', '""', '"é"', 's'])})`,
    () => (random.chance(0.5) ? 's.is_empty()' : 's.len() > 1'),
    () => random.pick(['f', `f ${equal} true`, `f ${equal} (n > 0)`]),
    () => `e ${equal} ${random.pick(['Low', 'High', 'e'])}`,
  ])()
}

function number(random: Random, depth = 0): string {
  if (depth > 1 || random.chance(0.5)) return random.pick(['n', 'm', 'len(s)', '0', '7', '-n'])
  const [left, right] = [number(random, depth + 1), number(random, depth + 1)]
  return random.chance(0.2) ? `(${left}) % 3` : `(${left} ${random.pick(['+', '-', '*'])} ${right})`
}

const row = (random: Random) => ({
  n: random.pick([0, 1, 7, -3]),
  m: random.pick([0, 2, -1, 100]),
  x: random.pick([0, 0.5, -2.25, 1e21]),
  d: random.pick(['0', '1.50', '-2', '1.5', '12.49', '-0.0']),
  s: random.pick(['', 'b', 'ab', 'é', 'it’s', "it's", 'B', '😀b']),
  f: random.chance(0.5),
  e: {_tag: random.pick(['Low', 'High'])},
})

const fields = 'n: int, m: int, x: float, d: dec, s: str, f: bool, e: Level'
const names = ['n', 'm', 'x', 'd', 's', 'f', 'e']

/** A program whose table has a condition, which a function evaluates, too. */
const source = (text: string) => `type Level = | Low | High
@table type Row { ${fields.replace('e: Level', `e: Level check(${text})`)} }
@endpoint(kind: query) fn holds(${fields}) to bool { ${text} }
@endpoint(kind: mutation) fn add(${fields}) to bool {
    db.Row.insert({ ${names.map((name) => `${name}: ${name}`).join(', ')} }).is_ok()
}
`

describe('a condition of a column', () => {
  it('is met in the database exactly if it is true in the language', async () => {
    const random = seeded(20_261_130)
    const results = new Set<unknown>()
    for (let i = 0; i < 60; i++) {
      const text = condition(random)
      const checked = program(source(text))
      const application = await Application.open(checked, {path: ':memory:'})
      try {
        const call = async (name: string, values: object) => {
          const target = checked.functions.find((made) => made.name === name)
          assert.ok(target)
          return (await application.call(target, Object.values(values))).value
        }
        for (let j = 0; j < 8; j++) {
          const values = row(random)
          const expected = await call('holds', values)
          assert.equal(await call('add', values), expected, `${text} for ${JSON.stringify(values)}`)
          results.add(expected)
        }
      } finally {
        application.close()
      }
    }
    assert.deepEqual([...results].sort(), [false, true])
  })
})
