/** Decorators and declarations that the data language does not have must not change anything else. */
import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Diagnostics} from '../../src/lang/diagnostics/index.js'
import {
  appContract,
  checkProgram,
  clientFile,
  ddl,
  explain,
  functionsFile,
  openapi,
  type Program,
  runtimeProjection,
  schemaDigest,
  typesFile,
} from '../../src/lang/index.js'
import {parse} from '../../src/lang/syntax/declarations.js'
import {type Random, seeded} from '../support/random.js'
import {corpus} from './fuzz.js'

const isSkipped = (code: string) => code === 'parse.unsupported_decorator' || code === 'parse.unsupported_declaration'

/** Everything that is made from a program. */
const compiled = (program: Program) => ({
  diagnostics: program.diagnostics.filter(({code}) => !isSkipped(code)).map(({code, message}) => `${code} ${message}`),
  tests: program.tests.map(({name}) => name),
  ddl: ddl(program),
  plans: explain(program, {query: undefined, all: true}),
  files: [typesFile(program), clientFile(program), functionsFile(program)],
  openapi: openapi(program, {title: 'any', version: '1'}),
  others: [schemaDigest(program), appContract(program), runtimeProjection(program, undefined)],
})

const decoratorNames = '@rate_limit @cache @audit @x.y @Deprecated @cors @pure @index_hint @testing @endpoints'.split(
  ' ',
)
const decoratorArguments = [
  '',
  '(5)',
  '(kind: query)',
  '("}")',
  '(a: [1, {b: 2}])',
  '(\n  1,\n  2\n)',
  ' "a text"',
  ' { ttl: 60 }',
  ' @other',
]
const decorator = (random: Random) =>
  `${random.pick(decoratorNames)}${random.pick(decoratorArguments)}${random.pick([' ', '\n', '\n\n'])}`

const foreignDeclarations = [
  'import a.b, c\n',
  'const Theme = dark({ }); ',
  'let list = [\n1,\n2]\n',
  'component Home() {\n    state n: int = 0\n    view: column() { text() { "home" } }\n}\n',
  '@loading fn Wait() to Element { return text() { "wait" } }\n',
  'actor Counter {} ',
]

/** The places before each declaration, and between its decorator and what follows. */
function places(source: string) {
  const found: {at: number; isBetween: boolean; hasDoc: boolean}[] = []
  for (const decl of parse(source, new Diagnostics()).module.decls) {
    const {start} = decl
    found.push({at: start, isBetween: false, hasDoc: 'doc' in decl && decl.doc !== undefined})
    const own = /^(?:@table|@test|@endpoint\([^)]*\))\s/.exec(source.slice(start, start + 60))
    if (own !== null) found.push({at: start + own[0].length, isBetween: true, hasDoc: false})
  }
  return found
}

/** The source with foreign syntax at random places. */
function interspersed(source: string, random: Random): string {
  let result = ''
  let last = 0
  for (const {at, isBetween, hasDoc} of places(source)) {
    if (at < last || random.chance(0.3)) continue
    // A foreign declaration would get the documentation of the next one.
    const isDeclaration = !isBetween && !hasDoc && random.chance(0.3)
    result += source.slice(last, at) + (isDeclaration ? random.pick(foreignDeclarations) : decorator(random))
    last = at
  }
  return result + source.slice(last)
}

describe('foreign decorators and declarations', () => {
  const programs = corpus().filter((source) => !checkProgram(source).hasErrors)

  it('leave every program as it is without them', () => {
    assert.ok(programs.length > 10)
    let skipped = 0
    for (const [at, source] of programs.entries()) {
      const changed = interspersed(source, seeded(550_001 + at))
      const program = checkProgram(changed)
      skipped += program.diagnostics.filter(({code}) => isSkipped(code)).length
      assert.deepEqual(compiled(program), compiled(checkProgram(source)), changed)
    }
    assert.ok(skipped > 100, `${skipped} skipped`)
  })

  const table = '@table type Log { n: int }'
  for (const [what, source] of [
    ['above a table', `@audit\n${table}`],
    ['with arguments', `@keep(days: 30)\n@audit("all")\n\n${table}`],
    ['within a table', `@table @audit type Log { n: int }`],
    ['of a foreign declaration', `@cached component Home() {}\n${table}`],
    ['after a foreign declaration on the same line', `const most = 3; ${table}`],
    ['before a decorator of the language', `import charts ${table}`],
  ] as const)
    it(`keep the table: ${what}`, () => {
      const program = checkProgram(`${source}\n`)
      assert.equal(program.hasErrors, false)
      assert.deepEqual(
        program.tables.map(({name}) => name),
        ['Log'],
      )
    })

  for (const [what, source, code] of [
    ['a parenthesis that is not closed', `@cache(60\n${table}\n`, 'parse.expected_token'],
    ['a brace that is not closed', `component Home() {\n${table}\n`, 'parse.expected_token'],
    [
      'two decorators of the language',
      `@test @endpoint(kind: query) fn f() to int { 1 }\n${table}\n`,
      'parse.expected_token',
    ],
  ] as const)
    it(`are an error if they would take declarations away: ${what}`, () => {
      const {diagnostics} = checkProgram(source)
      assert.deepEqual(
        diagnostics.filter(({severity}) => severity === 'error').map((found) => found.code),
        [code],
      )
    })

  it('keep the documentation above them', () => {
    const {tables} = checkProgram(`/// What happened.\n@audit\n${table}\n`)
    assert.equal(tables[0]?.doc, 'What happened.')
  })
})
