import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {answerPatterns} from '../../src/assistant/code/answer-pattern.js'
import {codeExamples, systemPrompt} from '../../src/assistant/code/prompt.js'
import {readSurface, type SurfaceMode} from '../../src/assistant/code/surface.js'
import {fenced, fencedBlocks} from '../../src/assistant/fences.js'
import {compileGrammar, formatGrammar} from '../../src/grammar/index.js'
import {allSteps} from '../../src/grammar/steps.js'
import {checkProgram, formatSource} from '../../src/lang/index.js'
import {projectFile} from '../support/project.js'

const note = '@table type Note { title: str }\n'

/** Programs of this project without errors. */
const programs = ['examples', 'test/fixtures/lang'].flatMap((folder) => {
  const path = projectFile(folder)
  return readdirSync(path, {recursive: true, encoding: 'utf8'})
    .filter((name) => name.endsWith('.svc'))
    .map((name) => ({name: `${folder}/${name}`, source: readFileSync(join(path, name), 'utf8')}))
    .filter(({source}) => !checkProgram(source).hasErrors)
})

const matches = (mode: SurfaceMode, answer: string): boolean => {
  const matcher = compileGrammar(allSteps(formatGrammar({kind: 'regex', pattern: answerPatterns[mode]}))).matcher()
  return matcher.accept(Buffer.from(answer)) && matcher.isAccepting()
}

type Row = readonly [kind: string, answer: string, expected: string | RegExp]

/** The program in an answer, or the reason for its rejection with the quoted line. */
async function read(answer: string, mode: SurfaceMode, isChecked = true): Promise<string> {
  const surface = await readSurface(answer, mode, isChecked)
  if ('program' in surface) return surface.program.source
  const {reason, quoted} = surface
  return `refused: ${reason}${quoted === undefined ? '' : ` (${quoted})`}`
}

const check = (mode: SurfaceMode, rows: readonly Row[]) => {
  for (const [kind, answer, expected] of rows)
    it(kind, async () => {
      const result = await read(answer, mode)
      if (typeof expected === 'string') assert.equal(result, expected)
      else assert.match(result, expected)
    })
}

describe('an answer in raw_code_only mode', () => {
  check('raw_code_only', [
    ['is a program', note, note],
    ['may have blank lines around it', `\r\n\n${note.replace('\n', '\r\n')}\n\n`, note],
    ['may start with a byte order mark', `\uFEFF${note}`, note],
    ['may lack the final newline', note.trimEnd(), note],
    ['may have comments', `// notes\n# more\n/// A note.\n${note}`, `// notes\n# more\n/// A note.\n${note}`],
    [
      'may have strings with brackets and comment markers',
      'fn a() to str {\n    let b = "}} // {"\n    return b + \'# "\' // }\n}\n',
      'fn a() to str {\n    let b = "}} // {"\n    return b + \'# "\' // }\n}\n',
    ],
    [
      'may spread a declaration over several lines',
      'type A\n    = | B\n    | C\n@index N.i\n    on (t)\n    unique\nhttp get "/x"\n    to str\n{ return "" }\n',
      'type A\n    = | B\n    | C\n@index N.i\n    on (t)\n    unique\nhttp get "/x"\n    to str\n{ return "" }\n',
    ],
    ['may not be empty', ' \n', /the program is empty/],
    ['may not have a code fence', `\`\`\`svc\n${note}\`\`\`\n`, /has a code fence/],
    ['may not have a tilde fence', `~~~\n${note}~~~\n`, /has a code fence/],
    ['may not have an unclosed fence', `\`\`\`\n${note}`, /has a code fence/],
    [
      'may not have an introduction',
      `Here is the program:\n${note}`,
      /line 1 is not part of a program \(Here is the program:\)/,
    ],
    ['may not have an explanation', `${note}\nThis declares notes.\n`, /line 3 is not part of a program/],
    ['may not have a list', `${note}- one table\n`, /line 2 is not part of a program \(- one table\)/],
    ['may not be a sentence', 'I cannot do that.', /line 1 is not part of a program \(I cannot do that\.\)/],
  ])

  it('can be any program of this project', async () => {
    assert.ok(programs.length > 5)
    for (const {name, source} of programs)
      assert.doesNotMatch(await read(source, 'raw_code_only', false), /^refused/, name)
  })

  it('can be required of a server by a regular expression', () => {
    for (const {name, source} of programs) assert.ok(matches('raw_code_only', source.trimStart()), name)
    for (const text of [
      '',
      `Here is it:\n${note}`,
      `\`\`\`svc\n${note}\`\`\`\n`,
      `${note}  ~~~\n`,
      `${note}\`\`\`\`\n`,
    ])
      assert.ok(!matches('raw_code_only', text), text)
    const lines = ['    ```', '``', '~', '~~a', '`code`', '', '   ', '   x', '# a']
    assert.ok(matches('raw_code_only', `${note}${lines.join('\n')}`))
  })

  const valid: Readonly<Record<string, string>> = {
    'a sum type whose first variant has no bar': 'type Shape =\n    Round(radius: int)\n    | Flat\n',
    'a return type on the next line': 'fn one()\n    to\nint { return 1 }\n',
    'an arrow on the next line': 'fn one()\n-> int { return 1 }\n',
    'an index on the next line': '@table type A { x: int }\n@index\nA.by_x on (x)\n',
    'a constant': `const most = 3\n${note}`,
    'a semicolon on a line of its own': '@table type A { x: int }\n;\n',
    'sentences in comments and strings': '# This is a note.\nfn a() to str { return "This is it." }\n',
  }
  for (const [what, source] of Object.entries(valid))
    it(`may have ${what}, which the language allows`, async () => {
      assert.ok(!checkProgram(source).hasErrors)
      for (const isChecked of [true, false]) assert.equal(await read(source, 'raw_code_only', isChecked), source)
    })

  /** Invalid programs and their diagnostic codes. */
  const wrong: readonly (readonly [string, string, string])[] = [
    ['block comments', `/* Notes of people. */\n${note}`, 'parse.block_comment'],
    ['a table without @', 'table Note { title: str }\n', 'parse.unexpected_token'],
    ['a variable outside functions', `let most = 3\n${note}`, 'parse.unsupported_declaration'],
    ['an import', `import {a} from "b"\n${note}`, 'parse.unsupported_declaration'],
    ['a class', 'class Note:\n    title = ""\n', 'parse.unexpected_token'],
    ['SQL', 'CREATE TABLE note (title TEXT);\n-- The notes of a user.\n', 'parse.unexpected_token'],
  ]
  for (const [what, source, code] of wrong)
    it(`may have ${what}, which the language reports as an error`, async () => {
      assert.equal(await read(source, 'raw_code_only'), source)
      assert.equal(checkProgram(source).diagnostics[0]?.code, code)
    })

  for (const source of [
    'table Note { title: str }\n',
    '/* Notes. */\n',
    'fn (a: int) {}\n',
    '@table type A {\n x: int\n',
  ])
    it(`may not have an error outside declarations if it is not checked: ${source.trim()}`, async () => {
      assert.match(
        await read(`${note}${source}`, 'raw_code_only', false),
        /^refused: line [23] is not part of a program/,
      )
    })

  it('may have an error within a declaration if it is not checked', async () => {
    const source = 'fn a() to int { return return }\n'
    assert.equal(await read(source, 'raw_code_only', false), source)
  })

  const prose: readonly string[] = [
    `Here is the program:\n${note}`,
    `${note}(This program declares a table of notes.)\n`,
    `${note}to use this, run it.\n`,
    `${note.trim()} This is a table for you.\n`,
    `${note}Enjoy!\n`,
    `let me explain what this is\n${note}`,
    `type this into a file.\n${note}`,
    `${note}Here's how: "run it".\n`,
    `${note}1. Run it\n`,
    `${note}**Note**: it works.\n`,
    '\u8fd9\u662f\u7a0b\u5e8f\u3002\n',
  ]
  for (const answer of prose)
    it(`may not have prose: ${JSON.stringify(answer.replace(note, ''))}`, async () => {
      for (const isChecked of [true, false])
        assert.match(await read(answer, 'raw_code_only', isChecked), /^refused: line [12] is not part of a program/)
    })

  // A regular expression that backtracks would take hours.
  it('is parsed in linear time', async () => {
    const answer = `${'x'.repeat(200_000)}\n${'- '.repeat(100_000)}\n`
    assert.equal((await read(answer, 'raw_code_only')).trim(), answer.trim())
  })

  it('is not quoted in the reason for its rejection, which may be logged', async () => {
    const surface = await readSurface('The secret is seven.\n', 'raw_code_only')
    assert.deepEqual(surface, {reason: 'line 1 is not part of a program', quoted: 'The secret is seven.'})
  })
})

describe('an answer in fenced_transport mode', () => {
  const block = `\`\`\`svc\n${note}\`\`\``
  check('fenced_transport', [
    ['has the program in a code fence', block, note],
    ['may have prose around it', `Here you are:\n\n${block}\n\nAnything else?`, note],
    ['may have a tilde fence with other fences inside', `~~~\n${note}# \`\`\`\n~~~`, `${note}# \`\`\`\n`],
    ['may not lack a fenced block', note, /has no fenced block/],
    ['may not have two fenced blocks', `${block}\n\n${block}`, /has 2 fenced blocks/],
    ['may not have an unclosed fence', `\`\`\`\n${note}`, /the fenced block is not closed/],
    ['may not be empty', '```\n\n```', /the program is empty/],
    ['may have backticks after the tildes of a fence', `~~~svc \`x\`\n${note}~~~`, note],
    ['may not have only an inline fence', `Use \`\`\`${note.trim()}\`\`\` here.`, /has no fenced block/],
  ])

  it('can be required of a server by a regular expression', () => {
    for (const text of [block, `Here you are:\n\n${block}\n\nAnything else?`])
      assert.ok(matches('fenced_transport', text), text)
    for (const text of [note, `${block}\n\n${block}`, `\`\`\`\n${note}`, '', '```\n```'])
      assert.ok(!matches('fenced_transport', text), text)
  })
})

describe('fences', () => {
  it('are longer than the fences in their content', () => {
    for (const text of ['plain', 'a `b` c', '```\ncode\n```', '````x'])
      assert.deepEqual(fencedBlocks(fenced(text)), [{content: text, isClosed: true}])
  })
})

describe('the system prompt', () => {
  for (const [i, example] of codeExamples.entries())
    it(`has a valid and formatted example ${i + 1}`, async () => {
      assert.deepEqual(checkProgram(example).diagnostics, [])
      assert.equal(formatSource(example), example)
      assert.equal(await read(example, 'raw_code_only'), example)
    })

  it('mentions only existing operations and operators', () => {
    const source = `@table type T { a: int, b: Option[str], c: List[str] }
@table type U { t: Id[T], d: dec, e: bytes, f: Map[str, int], g: float, h: bool }
@endpoint(kind: server)
fn all_of_it(id: Id[T], xs: List[int]) to int {
    let n = db.T.where({ a: { eq: 1, neq: 2, lt: 3, lte: 3, gt: 0, gte: 0, in: xs }, b: { contains: "x" } }).count()
    let m = db.T.where({ and: [{ b: { is_null: true } }], or: [{ c: { contains: "x" } }], not: { a: 1 } }).order_by(a, desc).limit(3).select(a, b)
    let got = db.T.get(id)
    let done = db.T.update(id, { a: 2 }) and db.T.delete(id)
    let made = db.T.insert({ a: 1, c: [] })
    return n + len(m) + len(db.T.all()) + len(db.T.filter({ a: 1 })) + db.T.count()
}
http put "/t/{id}" (id: int) to bool { return db.T.update(id, { a: 1 }) }
http post "/t" to int { return 1 }
http delete "/t/{id}" (id: int) to bool { return db.T.delete(id) }
`
    assert.deepEqual(checkProgram(source).diagnostics, [])
  })

  it('ends with the requested output format', () => {
    assert.match(systemPrompt('raw_code_only'), /no code fence\.$/)
    assert.match(systemPrompt('fenced_transport'), /exactly one fenced code block\.$/)
  })
})
