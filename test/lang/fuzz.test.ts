import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram, formatSource, renderDiagnostics} from '../../src/lang/index.js'
import {isWithin, processorTimer} from '../support/processor-time.js'
import {seeded} from '../support/random.js'
import {corpus, everything, faultOf, fuzz, mutated} from './fuzz.js'
import {holds, testLong, testNested, testVeryLong, times} from './large-programs.js'

/** `fuzz.slow.ts` and `npm run fuzz` test more programs. */
const programs = 100

describe('mutated programs', () => {
  it('are checked, formatted and generated without an internal error', async () => {
    const report = await fuzz({seed: 20_260_105, programs, seconds: 600})
    assert.deepEqual(report.failures, [])
    assert.equal(report.programs, programs)
    assert.ok(report.clean > 0 && report.formatted > report.clean, JSON.stringify(report))
  })

  it('are identical for the same seed', () => {
    const programs = corpus()
    assert.equal(mutated(seeded(7), programs), mutated(seeded(7), programs))
    assert.notEqual(mutated(seeded(7), programs), mutated(seeded(8), programs))
  })
})

describe('a program that uses every construct', () => {
  it('has no diagnostics and no internal error', () => holds(everything))
})

describe('a source that is not a program', () => {
  const sources: readonly (readonly [what: string, source: string])[] = [
    ['nothing', ''],
    ['white space', ' \t\r\n\n '],
    ['a byte order mark', '\ufeff'],
    ['NUL', '\0'.repeat(5000)],
    ['a lone surrogate', '\ud800 fn f() { "\udc00" } \ud83d'],
    ['text in other scripts', '函数 f() { "мир" } 🎉'],
    ['all characters up to U+3000', times(0x3000, (i) => String.fromCharCode(i), '')],
    ['one long line', '@'.repeat(100_000)],
    ['quotes alone', '"'.repeat(10_000)],
    ['backslashes in a string', `"${'\\'.repeat(10_001)}`],
    ['closing brackets alone', ')]}'.repeat(10_000)],
    ['an unterminated comment', `/*${' *'.repeat(10_000)}`],
    ['decorators alone', '@endpoint '.repeat(10_000)],
  ]
  for (const [what, source] of sources)
    it(`is handled: ${what}`, async () => {
      assert.equal(await faultOf(source), undefined)
    })
})

// `fuzz.slow.ts` tests greater depths. At this depth, an unlimited recursive parser would exhaust the stack.
testNested(3000)
testLong(2000)
// A spread call is limited by the stack to about 125,000 arguments.
testVeryLong(130_000)

describe('types that each contain the next twice, 24 levels deep', () => {
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

  it('are checked in time as tuples, and truncated in messages', () => {
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

describe('recursive types', () => {
  for (const [what, declaration] of [
    ['a sum whose first variant does', 'type Tree = | Branch(left: Tree, right: Tree) | Leaf(value: int)'],
    ['a sum whose last variant does', 'type Tree = | Leaf(value: int) | Branch(left: Tree, right: Tree)'],
    ['a record with a list of itself', 'type Tree { children: List[Tree] }'],
    ['a record with an option of itself', 'type Tree { next: Option[Tree] }'],
    ['two mutually recursive records', 'type Tree { other: Option[Other] }\ntype Other { tree: List[Tree] }'],
  ] as const)
    it(`are generated in every format: ${what}`, () =>
      holds(`${declaration}
@table type Plant { tree: Tree }
@endpoint(kind: query)
fn plants(like: Tree) to List[Tree] { return db.Plant.all().map(plant => plant.tree) }
`))
})

describe('a program with more warnings than the limit', () => {
  const warnings = `let s = "${'\\q'.repeat(1500)}"`

  it('still reports its errors', () => {
    assert.ok(checkProgram(`fn f() to int {\n${warnings}\nreturn "x"\n}\n`).hasErrors)
    assert.ok(checkProgram(`fn f() {\n${warnings}\nlet = }\n`).hasErrors)
  })

  it('is not formatted if it does not parse', () => {
    assert.equal(formatSource(`fn f() {\n${warnings}\n§\n}\n`), undefined)
  })
})

describe('a program on one long line', () => {
  it('renders its errors in time', () => {
    const source = `fn f() { ${'let y = 1; '.repeat(16_000)}z }`
    const elapsed = processorTimer()
    const rendered = renderDiagnostics(checkProgram(source).diagnostics, 'a.svc', source)
    const ms = elapsed()
    assert.ok(isWithin(ms, 2000), `${ms} ms`)
    assert.match(rendered, /typecheck\.undefined/)
  })
})

describe('names that collide in the database', () => {
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
    it(`are rejected by the checker: ${what}`, () => {
      assert.ok(checkProgram(source).hasErrors)
    })
})

describe('declarations that SQLite cannot execute', () => {
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
      'two near searches',
      `@table type A { v: List[float] }
@vector_index A.i on (v) { dimensions: 3 }
fn f() to List[A] { return db.A.where({ and: [{ v: { near: [1.0] } }, { v: { near: [2.0] } }] }) }
`,
    ],
  ] as const)
    it(`are rejected by the checker or handled differently: ${what}`, async () => {
      assert.equal(await faultOf(source), undefined)
    })

  for (const [what, predicate] of [
    ['or', `{ or: [${times(1500, (i) => `{ b: ${i} }`, ', ')}] }`],
    ['and', `{ and: [${times(1500, (i) => `{ b: { neq: ${i} } }`, ', ')}] }`],
    ['in', `{ b: { in: [${times(40_000, String, ', ')}] } }`],
  ] as const)
    it(`are rejected by the checker or handled differently: a where with a very long ${what}`, async () => {
      assert.equal(
        await faultOf(`@table type A { b: int }\nfn f() to List[A] { return db.A.where(${predicate}) }\n`),
        undefined,
      )
    })
})
