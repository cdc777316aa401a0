/** List methods on random lists, compared with definitions that are as short as possible. */
import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram, decoder, type FunctionType, pureFunction, toJson} from '../../src/lang/index.js'
import {type Random, seeded} from '../support/random.js'

const source = `fn folded(items: List[int]) to int { items.reduce((sum, n) => sum * 2 + n, 1) }
fn total(items: List[int]) to int { items.sum() }
fn decimals(items: List[dec]) to dec { items.sum() }
fn least(items: List[dec]) to Option[dec] { items.min() }
fn most(items: List[str]) to Option[str] { items.max() }
fn ordered(items: List[dec]) to List[dec] { items.sort() }
fn texts(items: List[str]) to List[str] { items.sort() }
fn by_length(items: List[str]) to List[str] { items.sort_by(text => (text.len(), text is "b")) }
fn different(items: List[dec]) to List[dec] { items.distinct() }
fn united(a: Set[int], b: List[int]) to Set[int] { a + b }
fn grouped(items: List[int]) to Map[str, List[int]] { items.group_by(n => n % 3) }
fn labelled(items: List[str]) to Map[str, List[str]] { items.group_by(text => text) }
fn part(items: List[int], from: int, until: int) to List[int] { items.slice(from, until) }
fn pairs(a: List[int], b: List[str]) to List[(int, str)] { a.zip(b) }
fn repeated(items: List[int]) to List[int] { items.flat_map(n => [n, n]) }
fn found(items: List[int]) to Option[int] { items.find(n => n > 3) }
fn places(items: List[dec], item: dec) to (int, int) { (items.index_of(item), items.count(n => n is item)) }
fn ends(items: List[int], n: int) to (List[int], List[int]) { (items.take(n), items.skip(n)) }
fn extremes(items: List[str]) to (Option[str], Option[str]) { (items.min_by(t => t.len()), items.max_by(t => t.len())) }
fn compared(a: List[dec], b: List[dec]) to (List[dec], List[dec]) { (a.intersection(b), a.difference(b)) }
fn mapped(keys: List[str], values: List[int]) to Map[str, int] {
    keys.zip(values).to_map().filter((key, n) => key isnt "a" and n > 0).map_values(n => n + 1)
}
fn decided(items: List[int]) to (bool, bool) { (items.any(n => n > 3), items.all(n => n > 3)) }
`
const program = checkProgram(source)

const call = (name: string, ...args: unknown[]) => {
  const target = program.functions.find((made) => made.name === name) as FunctionType
  const values = args.map((arg, i) => decoder((target.params[i] as FunctionType['params'][number]).type)(arg))
  const value = toJson(pureFunction(target)(...values))
  return JSON.parse(JSON.stringify(value ?? null))
}

const listOf = <T>(random: Random, item: () => T): T[] => Array.from({length: random.below(9)}, item)

/** The number of hundredths of a decimal with at most two places. */
const hundredths = (text: string) => Math.round(Number(text) * 100)
const byValue = (a: string, b: string) => hundredths(a) - hundredths(b)
const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

describe('list methods', () => {
  it('agree with their definitions on random lists', () => {
    assert.deepEqual(program.diagnostics, [])
    const random = seeded(20)
    for (let round = 0; round < 150; round++) {
      const ints = listOf(random, () => random.below(12) - 4)
      const others = listOf(random, () => random.below(12) - 4)
      const decs = listOf(
        random,
        () => `${random.pick(['', '-'])}${random.below(20)}${random.pick(['', '.0', '.5', '.50', '.05'])}`,
      )
      const texts = listOf(random, () => random.pick(['a', 'b', 'ab', '', '\u{1F600}', '\uffee', 'é', 'Z']))
      const label = JSON.stringify({ints, others, decs, texts})
      const same = (found: unknown, expected: unknown) => assert.deepEqual(found, expected, label)

      const [item = '0'] = decs.slice(-1)
      const isEqual = (text: string) => hundredths(text) === hundredths(item)
      same(call('places', decs, item), [decs.findIndex(isEqual), decs.filter(isEqual).length])
      const n = random.below(9) - 2
      same(call('ends', ints, n), [ints.slice(0, Math.max(0, n)), ints.slice(Math.max(0, n))])
      const sizes = texts.map((text) => [...text].length)
      const at = (size: number) => texts[sizes.indexOf(size)] ?? null
      same(call('extremes', texts), [at(Math.min(...sizes)), at(Math.max(...sizes))])
      const others2 = decs.slice(2)
      const has = (text: string) => others2.some((other) => hundredths(other) === hundredths(text))
      same(call('compared', decs, others2), [decs.filter(has), decs.filter((text) => !has(text))])
      const entries = texts.flatMap((key, i) => (i < ints.length ? [[key, ints[i] as number] as const] : []))
      same(
        call('mapped', texts, ints),
        Object.fromEntries(
          [...new Map(entries)].flatMap(([key, of]) => (key !== 'a' && of > 0 ? [[key, of + 1]] : [])),
        ),
      )
      let folded = 1
      for (const n of ints) folded = folded * 2 + n
      same(call('folded', ints), folded)
      same(
        call('total', ints),
        ints.reduce((a, b) => a + b, 0),
      )
      same(
        hundredths(call('decimals', decs)),
        decs.map(hundredths).reduce((a, b) => a + b, 0),
      )
      const sorted = decs.map((text, i) => ({text, i})).sort((a, b) => byValue(a.text, b.text) || a.i - b.i)
      same(
        call('ordered', decs),
        sorted.map(({text}) => text),
      )
      same(call('least', decs), sorted[0]?.text ?? null)
      same(call('texts', texts), [...texts].sort(byCodePoint))
      same(call('most', texts), [...texts].sort(byCodePoint).at(-1) ?? null)
      const length = (text: string) => [...text].length
      same(
        call('by_length', texts),
        [...texts].sort((a, b) => length(a) - length(b) || Number(a === 'b') - Number(b === 'b')),
      )
      same(
        call('different', decs),
        decs.filter((text, i) => decs.findIndex((other) => byValue(text, other) === 0) === i),
      )
      same(call('united', [...new Set(ints)], others), [...new Set([...ints, ...others])])
      same(
        call('grouped', ints),
        Object.fromEntries(ints.map((n) => [(n % 3) + 0, ints.filter((m) => m % 3 === n % 3)])),
      )
      same(call('labelled', texts), Object.fromEntries(texts.map((text) => [text, texts.filter((t) => t === text)])))
      const [from, until] = [random.below(12) - 6, random.below(12) - 6]
      same(call('part', ints, from, until), ints.slice(from, until))
      same(
        call('pairs', ints, texts),
        ints.flatMap((n, i) => (i < texts.length ? [[n, texts[i]]] : [])),
      )
      same(
        call('repeated', ints),
        ints.flatMap((n) => [n, n]),
      )
      same(call('found', ints), ints.filter((n) => n > 3)[0] ?? null)
      same(call('decided', ints), [ints.some((n) => n > 3), ints.every((n) => n > 3)])
    }
  })

  it('count the items of long lists as steps', () => {
    const long = `fn long(n: int) to List[int] {
    let mut items = [1, 2, 3]
    for _ in range(0, n) { items = items + items }
    items
}
`
    for (const use of ['sort()', 'distinct()', 'slice(1)', 'concat([1])']) {
      const {diagnostics, functions} = checkProgram(
        `${long}fn used() { let items = long(17)\n    for _ in range(0, 250) { let other = items.${use} } }\n`,
      )
      assert.deepEqual(diagnostics, [])
      assert.throws(() => pureFunction(functions[1] as FunctionType)(), {reason: 'STEP_LIMIT'}, use)
    }
    const {functions} = checkProgram(`${long}fn used() to int { long(60).len() }\n`)
    assert.throws(() => pureFunction(functions[1] as FunctionType)(), {reason: 'STEP_LIMIT'})
  })

  it('are refused for items without an order, a sum or a key', () => {
    const refused: readonly (readonly [string, string])[] = [
      ['["a"].sum()', 'sum() needs numbers, found List[str].'],
      ['[[1]].sort()', 'sort() needs items that can be ordered, found List[List[int]].'],
      ['[1].sort_by(n => [n])', 'sort_by() needs a key that can be ordered, found List[int].'],
      ['[1.5].group_by(x => x)', 'group_by() needs a key of type str, int, bool, Date or DateTime, found float.'],
      ['[1].any(n => n)', 'Expected bool, found int.'],
      ['[1].reduce((all, n) => str(n), 0)', 'Expected int, found str.'],
      ['[1] + ["a"]', "Operator '+' does not apply to List[int] and List[str]."],
    ]
    for (const [expression, message] of refused) {
      const {diagnostics} = checkProgram(`fn f() { let x = ${expression} }\n`)
      assert.deepEqual(
        diagnostics.map((each) => each.message),
        [message],
        expression,
      )
    }
  })

  it('infer the items of a list that starts empty', () => {
    const {diagnostics} = checkProgram(`fn f() to List[str] {
    let mut items = []
    items += ["a"]
    return [1, 2].reduce((all, n) => all.append(items[0] + n), [])
}
`)
    assert.deepEqual(diagnostics, [])
  })
})
