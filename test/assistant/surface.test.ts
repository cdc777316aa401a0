import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {codeExamples, systemPrompt} from '../../src/assistant/code/prompt.js'
import {readSurface, type SurfaceMode} from '../../src/assistant/code/surface.js'
import {fenced, fencedBlocks} from '../../src/assistant/fences.js'
import {checkProgram, formatSource} from '../../src/lang/index.js'
import {projectFile} from '../support/project.js'

const note = '@table type Note { title: str }\n'

/** Programs of this project that are without errors. */
const programs = ['examples', 'test/fixtures/lang'].flatMap((folder) => {
  const path = projectFile(folder)
  return readdirSync(path, {recursive: true, encoding: 'utf8'})
    .filter((name) => name.endsWith('.svc'))
    .map((name) => ({name: `${folder}/${name}`, source: readFileSync(join(path, name), 'utf8')}))
    .filter(({source}) => !checkProgram(source).hasErrors)
})

type Row = readonly [kind: string, answer: string, expected: string | RegExp]

const check = (mode: SurfaceMode, rows: readonly Row[]) => {
  for (const [kind, answer, expected] of rows)
    it(kind, () => {
      const surface = readSurface(answer, mode)
      if (typeof expected === 'string') assert.deepEqual(surface, {code: expected})
      else assert.match('reason' in surface ? surface.reason : '', expected, JSON.stringify(surface))
    })
}

describe('an answer that is to be a program and nothing else', () => {
  check('raw_code_only', [
    ['is the program', note, note],
    ['may have blank lines around it', `\r\n\n${note.replace('\n', '\r\n')}\n\n`, note],
    ['may begin with a byte order mark', `\uFEFF${note}`, note],
    ['may lack the end of its last line', note.trimEnd(), note],
    ['may have comments', `// notes\n# more\n/// A note.\n${note}`, `// notes\n# more\n/// A note.\n${note}`],
    [
      'may have text with brackets and signs of comments',
      'fn a() to str {\n    let b = "}} // {"\n    return b + \'# "\' // }\n}\n',
      'fn a() to str {\n    let b = "}} // {"\n    return b + \'# "\' // }\n}\n',
    ],
    [
      'may break a declaration between its parts',
      'type A\n    = | B\n    | C\n@index N.i\n    on (t)\n    unique\nhttp get "/x"\n    to str\n{ return "" }\n',
      'type A\n    = | B\n    | C\n@index N.i\n    on (t)\n    unique\nhttp get "/x"\n    to str\n{ return "" }\n',
    ],
    ['may not be empty', ' \n', /the program is empty/],
    ['may not stand in a fence', `\`\`\`svc\n${note}\`\`\`\n`, /has a code fence/],
    ['may not stand in a fence of tildes', `~~~\n${note}~~~\n`, /has a code fence/],
    ['may not stand in a fence without an end', `\`\`\`\n${note}`, /has a code fence/],
    [
      'may not be introduced',
      `Here is the program:\n${note}`,
      /line 1 is no part of a program: "Here is the program:"/,
    ],
    ['may not be explained', `${note}\nThis declares notes.\n`, /line 3 is no part of a program/],
    ['may not be commented on with a list', `${note}- one table\n`, /line 2 is no part of a program: "- one table"/],
    ['may not be of another language', 'import {a} from "b"\nconst c = 1\n', /line 1 is no part of a program/],
    ['may not be a sentence', 'I cannot do that.', /line 1 is no part of a program: "I cannot do that\."/],
  ])

  it('may be any program of this project', () => {
    assert.ok(programs.length > 5)
    for (const {name, source} of programs) {
      const surface = readSurface(source, 'raw_code_only')
      assert.ok('code' in surface, `${name}: ${JSON.stringify(surface)}`)
    }
  })
})

describe('an answer that is to have a program in one fenced block', () => {
  const block = `\`\`\`svc\n${note}\`\`\``
  check('fenced_transport', [
    ['has the program between the fences', block, note],
    ['may say something around it', `Here you are:\n\n${block}\n\nAnything else?`, note],
    ['may have tildes, and fences of another kind inside', `~~~\n${note}# \`\`\`\n~~~`, `${note}# \`\`\`\n`],
    ['may not lack it', note, /has no fenced block/],
    ['may not have two', `${block}\n\n${block}`, /has 2 fenced blocks/],
    ['may not break off', `\`\`\`\n${note}`, /the fenced block has no end/],
    ['may not be empty', '```\n\n```', /the program is empty/],
    ['may not mention one in a line', `Use \`\`\`${note.trim()}\`\`\` here.`, /has no fenced block/],
  ])
})

describe('fences', () => {
  it('are longer than all that they hold', () => {
    for (const text of ['plain', 'a `b` c', '```\ncode\n```', '````x'])
      assert.deepEqual(fencedBlocks(fenced(text)), [{content: text, isClosed: true}])
  })
})

describe('what a model is told about the language', () => {
  for (const [i, example] of codeExamples.entries())
    it(`holds for example ${i + 1}, which is without fault and written as the formatter writes it`, () => {
      assert.deepEqual(checkProgram(example).diagnostics, [])
      assert.equal(formatSource(example), example)
      assert.deepEqual(readSurface(example, 'raw_code_only'), {code: example})
    })

  it('names only operations and operators that there are', () => {
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

  it('ends with the form that is asked for', () => {
    assert.match(systemPrompt('raw_code_only'), /no code fence\.$/)
    assert.match(systemPrompt('fenced_transport'), /exactly one fenced code block\.$/)
  })
})
