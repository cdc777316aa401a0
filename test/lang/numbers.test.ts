import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram, type FunctionType, formatSource, pureFunction, toJson} from '../../src/lang/index.js'
import {seeded} from '../support/random.js'

const result = (source: string) => {
  const {diagnostics, functions} = checkProgram(source)
  assert.deepEqual(diagnostics, [], source)
  return toJson(pureFunction(functions.at(-1) as FunctionType)())
}
const value = (expression: string, type: string) => result(`fn f() to ${type} { ${expression} }\n`)
const messages = (source: string) => checkProgram(source).diagnostics.map(({message}) => message)

const decimals: readonly (readonly [string, string])[] = [
  ['1.50dec * 3', '4.50'],
  ['2 + 0.5dec', '2.5'],
  ['7 - 0.25dec * 2', '6.50'],
  ['10.00dec / 4', '2.50'],
  ['1dec / 3', '0.3333333333333333333333333333333333'],
  ['2dec / 3', '0.6666666666666666666666666666666667'],
  ['-2dec / 3', '-0.6666666666666666666666666666666667'],
  ['1dec / 0.0000000000000000000000000000000000008dec', '1250000000000000000000000000000000000'],
  ['100000000000000000000000000000000000000000dec / 1dec', '100000000000000000000000000000000000000000'],
  ['7.5dec % 2', '1.5'],
  ['-7.5dec % 2', '-1.5'],
  ['2.345dec.round(2)', '2.34'],
  ['2.355dec.round(2)', '2.36'],
  ['2.345dec.round(2, "half_up")', '2.35'],
  ['-2.345dec.round(2, "half_up")', '-2.35'],
  ['-2.349dec.round(2, "down")', '-2.34'],
  ['2.5dec.round()', '2'],
  ['2dec.round(2)', '2.00'],
  ['-0.4dec.round()', '0'],
  ['(-1.50dec).abs()', '1.50'],
  ['dec("12.50")', '12.50'],
  ['dec(5) + dec(0.1) + dec(0.0000001) + dec(" +1 ")', '6.1000001'],
  ['[1.1dec, 2.2dec].sum() * 2', '6.6'],
  ['[1dec, 2dec, 2dec].avg().unwrap().round(3)', '1.667'],
]

describe('decimals', () => {
  it('calculate exactly, with integers, and round', () => {
    for (const [expression, expected] of decimals) assert.equal(value(expression, 'dec'), expected, expression)
    assert.equal(value('int(-12.99dec)', 'int'), -12)
    assert.equal(value('float(12.5dec)', 'float'), 12.5)
    assert.equal(value('2.50dec > 2 and 3 is 3.0dec and 2 < 2.1dec and 1dec isnt 2', 'bool'), true)
  })

  it('are made of integers where a decimal is expected', () => {
    const source = `@table type Item { price: dec, old: Option[dec] }
fn sum(prices: List[dec]) to dec { prices.sum() }
fn f() to dec { let n = 2\n let one: dec = 1\n sum([n, 1.5dec, one]) }
fn g() to int { db.Item.insert({ price: 3, old: 2 })\n db.Item.where({ price: { gte: 0 }, old: { in: [1, 2] } }).count() }
`
    const {diagnostics, functions} = checkProgram(source)
    assert.deepEqual(diagnostics, [])
    assert.equal(toJson(pureFunction(functions[1] as FunctionType)()), '4.5')
  })

  it('have quotients within one unit of the last digit', () => {
    const random = seeded(4)
    const some = () => `${random.pick(['', '-'])}${random.below(10 ** random.below(9)) + 1}.${random.below(1000) + 1}`
    for (let i = 0; i < 60; i++) {
      const [a, b] = [some(), some()]
      const quotient = value(`${a}dec / ${b}dec`, 'dec') as string
      const rest = value(`(${a}dec - ${quotient}dec * ${b}dec).abs()`, 'dec') as string
      const places = quotient.split('.')[1]?.length ?? 0
      assert.ok(Number(rest) <= Math.abs(Number(b)) * 10 ** -places, `${a} / ${b} = ${quotient}`)
      assert.ok(quotient.replace(/^-?0\.0*|[-.]/g, '').length <= 36, quotient)
    }
  })

  it('fail for a division by zero, too many digits, and text that is no number', () => {
    assert.throws(() => value('1dec / 0', 'dec'), {reason: 'DIVISION_BY_ZERO'})
    assert.throws(() => value('1dec % 0.0dec', 'dec'), {reason: 'DIVISION_BY_ZERO'})
    assert.throws(() => value('dec("1e5")', 'dec'), {reason: 'CONVERSION'})
    assert.throws(() => value('1dec.round(-1)', 'dec'), {reason: 'CONVERSION'})
    const squares = 'fn f() { let mut d = 12345678901234567890dec\n    loop { d = d * d } }\n'
    assert.throws(() => result(squares), {reason: 'STEP_LIMIT'})
    assert.deepEqual(messages('fn f() { let a = 1.5dec * 2.0 }\n'), ["Operator '*' does not apply to dec and float."])
    assert.deepEqual(messages('fn f() { let a = 1.5dec.round(1, "up") }\n'), [
      "round() needs the mode half_even, half_up, down, found 'up'.",
    ])
  })
})

describe('numbers', () => {
  it('have the functions of std.math', () => {
    assert.deepEqual(
      value(
        '(std.math.floor(-1.5), std.math.ceil(-0.5), std.math.abs(-3), std.math.max(1, 2.5), std.math.min(4, 3))',
        '(int, int, int, float, int)',
      ),
      [-2, 0, 3, 2.5, 3],
    )
    assert.deepEqual(
      value('(std.math.sqrt(9), std.math.pow(2, 10), 2.345.round(2))', '(float, float, float)'),
      [3, 1024, 2.34],
    )
    assert.throws(() => value('std.math.sqrt(-1)', 'float'), {reason: 'CONVERSION'})
    assert.deepEqual(
      value('(std.math.max(1.5dec, 1.50dec), std.math.min(Duration("PT9S"), Duration("PT10S")))', '(dec, Duration)'),
      ['1.5', 'PT9S'],
    )
    assert.deepEqual(messages('fn f() { let a = std.math.max(1dec, 1.5) }\n'), [
      'std.math.max() needs another dec, found float.',
    ])
  })

  it('are parsed from text', () => {
    const parsed = '(int.parse("7").unwrap_or(0), int.parse("7.5").unwrap_or(-1), dec.parse("1.50").unwrap_or(0dec))'
    assert.deepEqual(value(parsed, '(int, int, dec)'), [7, -1, '1.50'])
    assert.deepEqual(value('float.parse("x")', 'Result[float]'), {_tag: 'Error', value: 'x is not a float'})
  })
})

describe('text', () => {
  it('contains the values of expressions', () => {
    const source = `type P { name: str }
fn f() to List[str] {
    let (n, p) = (3, P { name: "Ann" })
    let map: Map[str, int] = { a: 1 }
    return [f"{n}", f"n = {n + 1}!", f'{p.name} has "{n}" {{}}', f"{map["a"]}{[1]}\\n", f"", f"{if n > 2 { f"<{n}>" } else { "" }}"]
}
`
    assert.deepEqual(result(source), ['3', 'n = 4!', 'Ann has "3" {}', '1[1]\n', '', '<3>'])
    assert.equal(
      formatSource('fn f(n: int) to str {\nreturn f"a { n+1 } b {n}"\n}\n'),
      'fn f(n: int) to str {\n    return f"a {n + 1} b {n}"\n}\n',
    )
  })

  it('has errors at their place', () => {
    const places = (source: string) =>
      checkProgram(source).diagnostics.map(({code, start, end}) => [code, source.slice(start, end)])
    assert.deepEqual(places('fn f() to str { f"{nam}" }\n'), [['typecheck.undefined', 'nam']])
    assert.deepEqual(places('fn f() to str { f"{}" }\n')[0], ['parse.unexpected_token', '}"'])
    assert.deepEqual(places('fn f(n: int) to str { f"{n\n}\n')[0], ['parse.unterminated_string', 'f"{n'])
    assert.deepEqual(places('fn f(n: int) to str { f"a\n}\n')[0]?.[0], 'parse.unterminated_string')
    assert.deepEqual(places('fn f(n: int) to str { "a {n} {m}" }\n'), [['lint.text_interpolation', '"a {n} {m}"']])
    assert.deepEqual(places('fn f(n: int) to str { "a {m}" }\n'), [])
  })

  it('is padded and trimmed', () => {
    assert.deepEqual(
      value(
        '["7".pad_start(3, "0"), "é".pad_end(3) + "|", "abc".pad_start(2), "a".pad_start(6, "xy"), " a ".trim_start(), " a ".trim_end()]',
        'List[str]',
      ),
      ['007', 'é  |', 'abc', 'xyxyxa', 'a ', ' a'],
    )
  })
})
