import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {
  Application,
  checkProgram,
  ddl,
  decoder,
  Failure,
  type FunctionType,
  type Program,
} from '../../src/lang/index.js'

const source = `
@table type Secret { word: str }
@table type Note {
    title: str
    body: Option[str]
    stars: int
    tags: List[str]
    props: Map[str, str]
}
@index Note.by_title on (title)
@search_index Note.by_body on (body)

@endpoint(kind: mutation) fn hide(word: str) to Id[Secret] { return db.Secret.insert({ word: word }) }
@endpoint(kind: query) fn secrets() to int { return db.Secret.count() }

@endpoint(kind: mutation)
fn add(title: str, body: Option[str], tags: List[str], props: Map[str, str]) to Id[Note] {
    return db.Note.insert({ title: title, body: body, stars: 0, tags: tags, props: props })
}
@endpoint(kind: mutation)
fn change(id: Id[Note], title: str, body: Option[str], tags: List[str]) to bool {
    return db.Note.update(id, { title: title, body: body, tags: tags })
}
@endpoint(kind: mutation) fn remove(id: Id[Note]) to bool { return db.Note.delete(id) }
@endpoint(kind: query) fn get(id: Id[Note]) to Option[Note] { return db.Note.get(id) }
@endpoint(kind: query) fn count() to int { return db.Note.count() }
@endpoint(kind: query) fn first(n: int) to List[Note] { return db.Note.all().limit(n) }

@endpoint(kind: query) fn filtered(s: str) to List[Note] { return db.Note.filter({ title: s }) }
@endpoint(kind: query) fn equal(s: str) to List[Note] { return db.Note.where({ title: s }) }
@endpoint(kind: query) fn eq(s: str) to List[Note] { return db.Note.where({ title: { eq: s } }) }
@endpoint(kind: query) fn eq_option(s: Option[str]) to List[Note] { return db.Note.where({ body: { eq: s } }) }
@endpoint(kind: query) fn neq(s: str) to List[Note] { return db.Note.where({ title: { neq: s } }) }
@endpoint(kind: query) fn neq_option(s: Option[str]) to List[Note] { return db.Note.where({ body: { neq: s } }) }
@endpoint(kind: query) fn lt(s: str) to List[Note] { return db.Note.where({ title: { lt: s } }) }
@endpoint(kind: query) fn lte(s: str) to List[Note] { return db.Note.where({ title: { lte: s } }) }
@endpoint(kind: query) fn gt(s: str) to List[Note] { return db.Note.where({ title: { gt: s } }) }
@endpoint(kind: query) fn gte(s: str) to List[Note] { return db.Note.where({ title: { gte: s } }) }
@endpoint(kind: query) fn in_items(s: str) to List[Note] { return db.Note.where({ title: { in: [s, "other"] } }) }
@endpoint(kind: query) fn in_list(s: List[str]) to List[Note] { return db.Note.where({ title: { in: s } }) }
@endpoint(kind: query) fn contains(s: str) to List[Note] { return db.Note.where({ title: { contains: s } }) }
@endpoint(kind: query) fn tagged(s: str) to List[Note] { return db.Note.where({ tags: { contains: s } }) }
@endpoint(kind: query) fn not_equal(s: str) to List[Note] { return db.Note.where({ not: { title: s } }) }
@endpoint(kind: query) fn either(s: str) to List[Note] {
    return db.Note.where({ or: [{ title: s }, { tags: { contains: s } }, { body: { contains: s } }] })
}
@endpoint(kind: query) fn matches(s: str) to List[Note] { return db.Note.where({ body: { matches: s } }) }
@endpoint(kind: query) fn scanned(s: str) to List[Note] { return db.Note.where({ title: { matches: s } }) }
`

const attacks: readonly (readonly [what: string, text: string])[] = [
  ['a quote', "'"],
  ['a double quote', '"'],
  ['a comparison that is always true', "x' OR 1=1 --"],
  ['the same with double quotes', 'x" OR "1"="1'],
  ['an appended statement', "'; DROP TABLE note; --"],
  ['a statement after double quotes', '"; DROP TABLE "note"; --'],
  ['a statement alone', 'DROP TABLE note'],
  ['many statements', "1; DELETE FROM secret; SELECT '"],
  ['a union', "' UNION SELECT _id, word FROM secret --"],
  ['a comment', '-- '],
  ['a block comment', '*/ OR 1=1 /*'],
  ['a placeholder', '?'],
  ['a numbered placeholder', '?1 :title @title $title'],
  ['wildcards', '%_%'],
  ['an escape', "\\' OR 1=1 --"],
  ['backslashes', '\\\\\\'],
  ['brackets', ') OR (1=1'],
  ['JSON', '"] , "x'],
  ['a JSON object', '{"$ne":null}'],
  ['a search query', 'a" OR title:* NEAR(b c) -d ^e {title} : f'],
  ['search operators', 'AND OR NOT NEAR'],
  ['NUL in the middle', "a\0' OR 1=1 --"],
  ['NUL alone', '\0'],
  ['control characters', '\u0001\u0008\u001b[2J\u007f'],
  ['line breaks', "a\r\n'; --\n"],
  ['quotes of other scripts', 'ʼ’＇\u2019 OR 1=1'],
  ['text from right to left', '\u202e eteleD'],
  ['a letter of four bytes', '🎉\u{10ffff}'],
  ['nothing', ''],
  ['a blank', ' '],
  ['a long text', "'; DROP TABLE note; --".repeat(5000)],
]
const ordinary = ['plain', 'zebra', 'x']

/** The operators on complete strings, with the equivalent direct comparison. */
const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const folded = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
const operators: readonly (readonly [name: string, holds: (title: string, s: string) => boolean])[] = [
  ['filtered', (title, s) => title === s],
  ['equal', (title, s) => title === s],
  ['eq', (title, s) => title === s],
  ['eq_option', (title, s) => title === s],
  ['neq', (title, s) => title !== s],
  ['neq_option', (title, s) => title !== s],
  ['lt', (title, s) => bytes(title, s) < 0],
  ['lte', (title, s) => bytes(title, s) <= 0],
  ['gt', (title, s) => bytes(title, s) > 0],
  ['gte', (title, s) => bytes(title, s) >= 0],
  ['in_items', (title, s) => title === s],
  ['contains', (title, s) => folded(title).includes(folded(s))],
  ['tagged', (title, s) => title === s],
  ['not_equal', (title, s) => title !== s],
  ['either', (title, s) => folded(title).includes(folded(s))],
]
/** SQLite limits LIKE patterns to 50,000 bytes. */
const isTooLong = (name: string, text: string) => (name === 'contains' || name === 'either') && text.length > 50_000

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean)
/** A search index contains words of letters and digits. */
const isSearchable = (word: string) => /[\p{L}\p{N}]/u.test(word)

interface Note {
  _id: number
  title: string
  body: string | null
  stars: number
  tags: string[]
  props: Map<string, string>
}

/** A program with its database, which contains one secret. */
class Desk {
  readonly program: Program
  readonly application: Application

  private constructor(program: Program, application: Application) {
    this.program = program
    this.application = application
  }

  static async open(): Promise<Desk> {
    const program = checkProgram(source)
    assert.deepEqual(
      program.diagnostics.map(({message}) => message),
      [],
    )
    const application = await Application.open(program, {path: ':memory:'})
    for (const statement of ddl(program)) application.writer.database.exec(statement)
    const desk = new Desk(program, application)
    await desk.call('hide', 'open sesame')
    return desk
  }

  async call<T>(name: string, ...args: unknown[]): Promise<T> {
    const target = this.program.functions.find((each) => each.name === name) as FunctionType
    return (await this.application.call(target, args)).value as T
  }

  /** A note with the given text in every column. */
  add(text: string): Promise<number> {
    return this.call('add', text, text, [text, `${text}!`], new Map([[text, text]]))
  }

  titles(name: string, ...args: unknown[]): Promise<string[]> {
    return this.call<Note[]>(name, ...args).then((notes) => notes.map(({title}) => title).sort(bytes))
  }

  tables(): string[] {
    const rows = this.application.writer.database
      .prepare<[], {name: string}>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all()
    return rows.map(({name}) => name)
  }

  /** Asserts that the database is intact. */
  async isWhole(notes: number): Promise<void> {
    assert.equal(await this.call('secrets'), 1)
    assert.equal(await this.call('count'), notes)
    assert.ok(this.tables().includes('note') && this.tables().includes('secret'), this.tables().join(' '))
  }

  close(): void {
    this.application.close()
  }
}

describe('a query with hostile text', () => {
  let desk: Desk
  const withoutNul = attacks.filter(([, text]) => !text.includes('\0'))
  const all = [...withoutNul.map(([, text]) => text), ...ordinary]
  before(async () => {
    desk = await Desk.open()
    for (const text of all) await desk.add(text)
  })
  after(() => desk.close())

  for (const [name, holds] of operators)
    describe(`as the value of ${name}`, () => {
      for (const [what, text] of withoutNul)
        it(`compares ${what} literally`, async () => {
          if (isTooLong(name, text)) await assert.rejects(desk.call(name, text), Failure)
          else {
            const expected = all.filter((title) => holds(title, text)).sort(bytes)
            assert.deepEqual(await desk.titles(name, text), expected)
          }
          await desk.isWhole(all.length)
        })
    })

  it('finds every string of a long list', async () => {
    assert.deepEqual(await desk.titles('in_list', all), [...all].sort(bytes))
    assert.deepEqual(await desk.titles('in_list', []), [])
    for (const text of all) assert.deepEqual(await desk.titles('in_list', [text]), [text])
    await desk.isWhole(all.length)
  })

  for (const name of ['matches', 'scanned'])
    for (const [what, text] of withoutNul.filter(([, each]) => each.length < 1000))
      it(`searches only for the words of ${what}: ${name}`, async () => {
        const found = await desk.titles(name, text)
        const words = wordsOf(text)
        for (const title of found)
          for (const letters of words.flatMap((word) => word.match(/[a-z0-9]+/gi) ?? []))
            assert.ok(folded(title).includes(folded(letters)), `${title} was found for ${text}`)
        if (words.length > 0 && words.every(isSearchable)) assert.ok(found.includes(text), found.join(' | '))
        await desk.isWhole(all.length)
      })

  it('respects a limit', async () => {
    const {length} = all
    for (const [limit, rows] of [
      [0, 0],
      [1, 1],
      [-1, 0],
      [Number.MIN_SAFE_INTEGER, 0],
      [Number.MAX_SAFE_INTEGER, length],
    ] as const)
      assert.equal((await desk.call<Note[]>('first', limit)).length, rows, `limit ${limit}`)
  })
})

describe('a search for words and punctuation', () => {
  const bodies = ['fish & chips', 'fish -- chips', 'fish', 'chips']
  let desk: Desk
  before(async () => {
    desk = await Desk.open()
    for (const body of bodies) await desk.add(body)
  })
  after(() => desk.close())

  for (const text of ['fish & chips', 'fish - chips', 'fish "chips"', '* fish (chips)'])
    it(`finds rows that contain the words of ${text}`, async () => {
      assert.deepEqual(await desk.titles('matches', text), ['fish & chips', 'fish -- chips'])
    })

  for (const text of ['', ' ', '&', '-- *', '""'])
    it(`finds the same rows with and without an index for "${text}", which contains no words`, async () => {
      const found = await desk.titles('matches', text)
      if (wordsOf(text).length === 0) assert.deepEqual(found, await desk.titles('scanned', text))
      await desk.isWhole(bodies.length)
    })
})

describe('text with NUL', () => {
  const texts = ['a\0b', '\0', 'ab', 'a', 'b', '']
  let desk: Desk
  before(async () => {
    desk = await Desk.open()
    for (const text of texts) await desk.add(text)
  })
  after(() => desk.close())

  for (const [name, holds] of operators)
    it(`is compared completely as the value of ${name}`, async () => {
      // LIKE stops at NUL: it ignores the rest of the text, and a pattern cannot contain NUL.
      const looksForParts = name === 'contains' || name === 'either'
      for (const text of texts.filter((one) => !looksForParts || !one.includes('\0'))) {
        const seen = (title: string) => (looksForParts ? (title.split('\0')[0] ?? '') : title)
        const expected = texts.filter((title) => holds(seen(title), text)).sort(bytes)
        assert.deepEqual(await desk.titles(name, text), expected, JSON.stringify(text))
      }
      assert.deepEqual(await desk.titles('in_list', texts), [...texts].sort(bytes))
      await desk.isWhole(texts.length)
    })

  it('is searched without a failure', async () => {
    for (const text of texts) {
      await desk.titles('matches', text)
      await desk.titles('scanned', text)
    }
    await desk.isWhole(texts.length)
  })
})

describe('stored hostile text', () => {
  for (const [what, text] of attacks)
    it(`is read back unchanged: ${what}`, async () => {
      const desk = await Desk.open()
      try {
        const otherId = await desk.add('kept')
        const id = await desk.add(text)
        const note = {
          _id: id,
          title: text,
          body: text,
          stars: 0,
          tags: [text, `${text}!`],
          props: new Map([[text, text]]),
        }
        assert.deepEqual({...(await desk.call<Note>('get', id))}, note)
        assert.equal(await desk.call('change', otherId, text, text, [text]), true)
        const changed = {...note, _id: otherId, tags: [text], props: new Map([['kept', 'kept']])}
        assert.deepEqual({...(await desk.call<Note>('get', otherId))}, changed)
        assert.equal(await desk.call('change', id + 1, text, text, [text]), false)
        await desk.isWhole(2)
        assert.equal(await desk.call('remove', id), true)
        assert.equal(await desk.call('remove', id), false)
        await desk.isWhole(1)
      } finally {
        desk.close()
      }
    })
})

describe('text instead of a number', () => {
  const texts = ['1', '1; DROP TABLE note', "1' OR 1=1 --", '', 'NaN', '1e3', '0x1']

  it('is rejected by the JSON decoder', async () => {
    const desk = await Desk.open()
    for (const name of ['get', 'remove', 'first']) {
      const [param] = desk.program.functions.find((each) => each.name === name)?.params ?? []
      assert.ok(param)
      const decode = decoder(param.type)
      for (const wrong of [...texts, 1.5, null, true, [1], {}, Number.NaN, 2 ** 53]) assert.throws(() => decode(wrong))
      assert.equal(decode(2), 2)
    }
    desk.close()
  })

  it('does not reach the database from within a program', async () => {
    const desk = await Desk.open()
    const id = await desk.add('kept')
    for (const text of texts)
      for (const name of ['get', 'remove']) await assert.rejects(desk.call(name, text), Failure, `${name} ${text}`)
    for (const wrong of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      for (const name of ['get', 'remove']) await assert.rejects(desk.call(name, wrong), Failure, `${name} ${wrong}`)
    assert.equal(await desk.call('remove', id + 1), false)
    await desk.isWhole(1)
    desk.close()
  })
})

describe('a program with hostile names', () => {
  const body = (expr: string) => `@table type Note { title: str }\nfn f() {\nlet s = "title"\n${expr}\n}\n`
  const names = [
    'title\\" OR 1=1 --',
    "title' --",
    'title\\"; DROP TABLE note; --',
    '*',
    '1',
    'rowid',
    'rank',
    'title COLLATE NOCASE',
    '',
  ]
  for (const [what, write] of [
    ['a column of filter', (name) => `db.Note.filter({ "${name}": "a" })`],
    ['a column of where', (name) => `db.Note.where({ "${name}": { eq: "a" } })`],
    ['an operator', (name) => `db.Note.where({ title: { "${name}": "a" } })`],
    ['a column of insert', (name) => `db.Note.insert({ title: "a", "${name}": "b" })`],
    ['a column of update', (name) => `db.Note.update(1, { "${name}": "b" })`],
    ['a column of order_by', (name) => `db.Note.all().order_by("${name}")`],
    ['a direction of order_by', (name) => `db.Note.all().order_by(title, "${name}")`],
    ['a column of select', (name) => `db.Note.all().select("${name}")`],
    ['a topic', (name) => `db.Note.all().live("${name.replace('rowid', '').replace('rank', '').replace(/^1$/, '')}")`],
    ['a mode of retrieval', (name) => `db.Note.all().using("${name}")`],
    ['a clause', (name) => `db.Note.query("${name}")`],
  ] as [string, (name: string) => string][])
    it(`is rejected: ${what}`, () => {
      for (const name of names) assert.ok(checkProgram(body(write(name))).hasErrors, write(name))
    })

  it('is rejected if a column is computed', () => {
    assert.ok(checkProgram(body('db.Note.all().order_by(s)')).hasErrors)
    assert.ok(checkProgram(body('db.Note.all().order_by("ti" + "tle")')).hasErrors)
    assert.ok(checkProgram(body('let p = { title: "a" }\ndb.Note.where(p)')).hasErrors)
  })
})
