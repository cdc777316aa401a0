import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram, type Diagnostic, formatSource, renderDiagnostics} from '../../src/lang/index.js'
import {isWithin, processorTimer} from '../support/processor-time.js'
import {corpus, everything, faultOf, fuzz, mutated, nested, nestings, seeded, unclosed} from './fuzz.js'

const codesOf = (source: string) => checkProgram(source, {symbols: true}).diagnostics.map(({code}) => code)
const unique = (codes: readonly string[]) => [...new Set(codes)]
const times = (count: number, make: (i: number) => string, between = '\n') =>
  Array.from({length: count}, (_, i) => make(i)).join(between)

/** Has no error, is checked within two seconds, formatted and written in every form. */
async function holds(source: string): Promise<void> {
  assert.equal(await faultOf(source), undefined)
  assert.deepEqual(codesOf(source), [])
}

/** `fuzz.slow.ts` and `npm run fuzz` make more of them. */
const programs = 200

describe('programs that are almost right', () => {
  it('are checked, formatted and written without a fault', async () => {
    const report = await fuzz({seed: 20_260_105, programs, seconds: 600})
    assert.deepEqual(report.failures, [])
    assert.equal(report.programs, programs)
    assert.ok(report.clean > 0 && report.formatted > report.clean, JSON.stringify(report))
  })

  it('are the same each time for the same seed', () => {
    const programs = corpus()
    assert.equal(mutated(seeded(7), programs), mutated(seeded(7), programs))
    assert.notEqual(mutated(seeded(7), programs), mutated(seeded(8), programs))
  })
})

describe('a program that uses everything', () => {
  it('has no diagnostics and no fault', () => holds(everything))
})

describe('a source that is no program', () => {
  const sources: readonly (readonly [what: string, source: string])[] = [
    ['nothing', ''],
    ['white space', ' \t\r\n\n '],
    ['a byte order mark', '\ufeff'],
    ['NUL', '\0'.repeat(5000)],
    ['half of a surrogate pair', '\ud800 fn f() { "\udc00" } \ud83d'],
    ['text in other scripts', '函数 f() { "мир" } 🎉'],
    ['all characters up to U+3000', times(0x3000, (i) => String.fromCharCode(i), '')],
    ['one long line', '@'.repeat(100_000)],
    ['quotes alone', '"'.repeat(10_000)],
    ['backslashes in a string', `"${'\\'.repeat(10_001)}`],
    ['closing brackets alone', ')]}'.repeat(10_000)],
    ['a comment without an end', `/*${' *'.repeat(10_000)}`],
    ['decorators alone', '@endpoint '.repeat(10_000)],
  ]
  for (const [what, source] of sources)
    it(`may be ${what}`, async () => {
      assert.equal(await faultOf(source), undefined)
    })
})

describe('what is nested 10,000 deep', () => {
  for (const nesting of nestings)
    it(`is refused as too deep: ${nesting.name}`, async () => {
      assert.ok(!codesOf(nested(nesting, 20)).includes('parse.too_deep'), 'a few are fine')
      const source = nested(nesting, 10_000)
      assert.ok(codesOf(source).includes('parse.too_deep'), unique(codesOf(source)).join(' '))
      assert.equal(await faultOf(source), undefined)
      assert.equal(await faultOf(unclosed(nesting, 10_000)), undefined)
    })
})

describe('what is 10,000 long', () => {
  const n = 10_000
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
  for (const [what, program] of programs) it(`is read: ${what}`, () => holds(program))

  it('is read: endpoints that reach a write by many calls', () => {
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

describe('what is 200,000 long', () => {
  const n = 200_000
  const programs: readonly (readonly [what: string, program: string])[] = [
    ['lists', `[${'1, '.repeat(n)}]`],
    ['tuples', `(${'1, '.repeat(n)})`],
    ['arguments', `print(${'1, '.repeat(n)})`],
    ['parameters of lambdas', `fn(${'x, '.repeat(n)}) 1`],
    ['objects', `{ ${'a: 1, '.repeat(n)} }`],
    ['statements', '1\n'.repeat(n)],
    ['arms', `match 1 {\n${'1 => 1\n'.repeat(n)}}`],
  ]
  for (const [what, body] of programs)
    it(`is read without a fault: ${what}`, () => {
      assert.doesNotThrow(() => checkProgram(`fn f() {\n${body}\n}\n`))
    })
})

describe('types that hold each other twice, 24 levels up', () => {
  const levels = 24

  it('are checked in time as records of a column', async () => {
    await holds(`${times(levels, (i) => `type R${i} { a: R${i + 1}, b: R${i + 1} }`)}
type R${levels} { a: int }
@table type T { r: R0 }
`)
  })

  it('are checked in time as variants of a column', async () => {
    await holds(`${times(levels, (i) => `type S${i} = | A${i}(a: S${i + 1}, b: S${i + 1}) | B${i}`)}
type S${levels} = | C
@table type T { s: S0 }
`)
  })

  it('are checked in time as tuples, and shown in a message that can be read', () => {
    const elapsed = processorTimer()
    const {diagnostics} = checkProgram(`fn f() {
let t0 = (1, 2)
${times(22, (i) => `let t${i + 1} = (t${i}, t${i})`)}
let wrong: int = t22
}
`)
    const ms = elapsed()
    assert.ok(isWithin(ms, 2000), `${ms} ms`)
    assert.deepEqual(
      diagnostics.map(({code}) => code),
      ['typecheck.mismatch'],
    )
    assert.ok((diagnostics[0]?.message.length ?? 0) < 1000, `a message of ${diagnostics[0]?.message.length} characters`)
  })
})

describe('types that hold themselves', () => {
  for (const [what, declaration] of [
    ['a sum whose first variant does', 'type Tree = | Branch(left: Tree, right: Tree) | Leaf(value: int)'],
    ['a sum whose last variant does', 'type Tree = | Leaf(value: int) | Branch(left: Tree, right: Tree)'],
    ['a record with a list of itself', 'type Tree { children: List[Tree] }'],
    ['a record with an option of itself', 'type Tree { next: Option[Tree] }'],
    ['two records in a circle', 'type Tree { other: Option[Other] }\ntype Other { tree: List[Tree] }'],
  ] as const)
    it(`are written in every form: ${what}`, () =>
      holds(`${declaration}
@table type Plant { tree: Tree }
@endpoint(kind: query)
fn plants(like: Tree) to List[Tree] { return db.Plant.all().map(plant => plant.tree) }
`))
})

describe('a program with more warnings than are kept', () => {
  const warnings = `let s = "${'\\q'.repeat(1500)}"`

  it('still has its errors', () => {
    assert.ok(checkProgram(`fn f() to int {\n${warnings}\nreturn "x"\n}\n`).hasErrors)
    assert.ok(checkProgram(`fn f() {\n${warnings}\nlet = }\n`).hasErrors)
  })

  it('is not formatted when it cannot be read', () => {
    assert.equal(formatSource(`fn f() {\n${warnings}\n§\n}\n`), undefined)
  })
})

describe('a program on one long line', () => {
  it('has its errors shown in time', () => {
    const source = `fn f() { ${'let y = 1; '.repeat(16_000)}z }`
    const elapsed = processorTimer()
    const shown = renderDiagnostics(checkProgram(source).diagnostics, 'a.svc', source)
    const ms = elapsed()
    assert.ok(isWithin(ms, 2000), `${ms} ms`)
    assert.match(shown, /typecheck\.undefined/)
  })
})

describe('names that the database would take for the same', () => {
  for (const [what, source] of [
    [
      'indexes of two tables',
      `@table type UserProfile { name: str }
@table type User { profile_name: str }
@index UserProfile.name on (name) unique
@index User.profile_name on (profile_name) unique
`,
    ],
    ['indexes that differ in case', '@table type A { b: str, c: str }\n@index A.By on (b)\n@index A.by on (c)\n'],
    ['an index and a table', '@table type A { b: str }\n@table type Idx_A_B { x: int }\n@index A.b on (b)\n'],
    [
      'a search index and a table',
      '@table type A { b: str }\n@table type A_B_Fts { x: int }\n@search_index A.b on (b)\n',
    ],
    [
      'a part of a search index and a table',
      '@table type A { b: str }\n@table type A_B_Fts_Data { x: int }\n@search_index A.b on (b)\n',
    ],
  ] as const)
    it(`are refused by the check: ${what}`, () => {
      assert.ok(checkProgram(source).hasErrors)
    })
})

describe('declarations that SQLite cannot carry out', () => {
  for (const [what, source] of [
    ['a search index on a column called rank', '@table type A { rank: str }\n@search_index A.i on (rank)\n'],
    ['a search index on a column called rowid', '@table type A { rowid: str }\n@search_index A.i on (rowid)\n'],
    ['a search index on one column twice', '@table type A { b: str }\n@search_index A.i on (b, b)\n'],
    [
      'a vector index on a column called distance',
      '@table type A { distance: List[float] }\n@vector_index A.i on (distance) { dimensions: 3 }\n',
    ],
    [
      'a vector index on a column called rowid',
      '@table type A { rowid: List[float] }\n@vector_index A.i on (rowid) { dimensions: 3 }\n',
    ],
    [
      'a vector index without dimensions',
      '@table type A { v: List[float] }\n@vector_index A.i on (v) { dimensions: 0 }\n',
    ],
    [
      'a vector index with too many dimensions',
      '@table type A { v: List[float] }\n@vector_index A.i on (v) { dimensions: 9000 }\n',
    ],
    ['a table with 2,100 columns', `@table type A {\n${times(2100, (i) => `a${i}: int`)}\n}\n`],
    [
      'two searches for what is near',
      `@table type A { v: List[float] }
@vector_index A.i on (v) { dimensions: 3 }
fn f() to List[A] { return db.A.where({ and: [{ v: { near: [1.0] } }, { v: { near: [2.0] } }] }) }
`,
    ],
  ] as const)
    it(`are refused by the check, or done in another way: ${what}`, async () => {
      assert.equal(await faultOf(source), undefined)
    })

  for (const [what, predicate] of [
    ['or', `{ or: [${times(1500, (i) => `{ b: ${i} }`, ', ')}] }`],
    ['and', `{ and: [${times(1500, (i) => `{ b: { neq: ${i} } }`, ', ')}] }`],
    ['in', `{ b: { in: [${times(40_000, String, ', ')}] } }`],
  ] as const)
    it(`are refused by the check, or done in another way: a where with a very long ${what}`, async () => {
      assert.equal(
        await faultOf(`@table type A { b: int }\nfn f() to List[A] { return db.A.where(${predicate}) }\n`),
        undefined,
      )
    })
})
