/** Tests of program size: deep nesting, or a very large number of one construct. */
import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram, type Diagnostic} from '../../src/lang/index.js'
import {faultOf, nested, nestings, unclosed} from './fuzz.js'

const codesOf = (source: string) => checkProgram(source, {symbols: true}).diagnostics.map(({code}) => code)
const unique = (codes: readonly string[]) => [...new Set(codes)]

/** The given number of parts of a program. */
export const times = (count: number, make: (i: number) => string, between = '\n'): string =>
  Array.from({length: count}, (_, i) => make(i)).join(between)

/** Asserts that a program has no error, is checked within two seconds, and can be formatted and generated. */
export async function holds(source: string): Promise<void> {
  assert.equal(await faultOf(source), undefined)
  assert.deepEqual(codesOf(source), [])
}

const count = (n: number) => n.toLocaleString('en')

export function testNested(depth: number): void {
  describe(`code nested ${count(depth)} levels deep`, () => {
    for (const nesting of nestings)
      it(`is rejected as too deep: ${nesting.name}`, async () => {
        assert.ok(!codesOf(nested(nesting, 20)).includes('parse.too_deep'), 'a few are fine')
        const source = nested(nesting, depth)
        assert.ok(codesOf(source).includes('parse.too_deep'), unique(codesOf(source)).join(' '))
        assert.equal(await faultOf(source), undefined)
        assert.equal(await faultOf(unclosed(nesting, depth)), undefined)
      })
  })
}

export function testLong(n: number): void {
  const inBody = (body: string) => `fn f(a: int) {\n${body}\n}\n`
  const programs: readonly (readonly [what: string, program: string])[] = [
    ['statements', inBody(times(n, (i) => `let x${i} = ${i}`))],
    ['statements on a line', inBody(times(n, (i) => `print(${i})`, '; '))],
    ['blocks', inBody(times(n, () => 'if a > 1 { print(a) }'))],
    ['lists', inBody(`let x = [${times(n, String, ', ')}]`)],
    ['tuples', inBody(`let x = (${times(n, String, ', ')})`)],
    ['objects', inBody(`let x = { ${times(n, (i) => `a${i}: ${i}`, ', ')} }`)],
    ['arms', inBody(`match a {\n${times(n, (i) => `${i} => print(a)`)}\n_ => print(0)\n}`)],
    ['parameters', `fn f(${times(n, (i) => `a${i}: int`, ', ')}) {}\nfn g() {\nf(${times(n, String, ', ')})\n}\n`],
    ['functions', times(n, (i) => `fn f${i}() {}`)],
    ['functions that call each other', `${times(n / 10, (i) => `fn f${i}() { f${i + 1}() }`)}\nfn f${n / 10}() {}\n`],
    ['records', times(n, (i) => `type R${i} { a: int }`)],
    ['fields', `type R {\n${times(n, (i) => `a${i}: int`)}\n}\n`],
    ['variants', `type S = ${times(n, (i) => `| V${i}`, ' ')}\n`],
    ['tables', times(n / 10, (i) => `@table type Table${i} { a: int }\n@index Table${i}.by_a on (a)`)],
    ['strings', inBody(`let x = "${'a'.repeat(n * 10)}"`)],
    ['names', inBody(`let ${'a'.repeat(n)} = 1`)],
    ['comments', `${times(n, (i) => `/// ${i}`)}\nfn f() {}\n`],
    ['empty lines', `${'\n'.repeat(n)}fn f() {}\n`],
    ['semicolons', `${';'.repeat(n)}\nfn f() {\n${';'.repeat(n)}\n}\n`],
  ]

  describe(`what is ${count(n)} long`, () => {
    for (const [what, program] of programs) it(`is checked: ${what}`, () => holds(program))

    it('is checked: endpoints that reach a write through many calls', () => {
      const source = `@table type T { a: int }
${times(n, (i) => `fn f${i}() { f${i + 1}() }`)}
fn f${n}() { db.T.insert({ a: 1 }) }
@endpoint(kind: query)
fn q() { f0() }
`
      const {diagnostics} = checkProgram(source)
      assert.deepEqual(
        diagnostics.map(({code}) => code),
        ['lint.query_not_readonly'],
      )
      const [{message}] = diagnostics as [Diagnostic]
      assert.ok(message.length < 1000, `a message of ${message.length} characters`)
    })
  })
}

export function testVeryLong(n: number): void {
  const programs: readonly (readonly [what: string, program: string])[] = [
    ['lists', `[${'1, '.repeat(n)}]`],
    ['tuples', `(${'1, '.repeat(n)})`],
    ['arguments', `print(${'1, '.repeat(n)})`],
    ['parameters of lambdas', `fn(${'x, '.repeat(n)}) 1`],
    ['objects', `{ ${'a: 1, '.repeat(n)} }`],
    ['statements', '1\n'.repeat(n)],
    ['arms', `match 1 {\n${'1 => 1\n'.repeat(n)}}`],
  ]
  describe(`what is ${count(n)} long`, () => {
    for (const [what, body] of programs)
      it(`is checked without an internal error: ${what}`, () => {
        assert.doesNotThrow(() => checkProgram(`fn f() {\n${body}\n}\n`))
      })
  })
}
