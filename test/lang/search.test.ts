import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {Application, checkProgram, connect, explain, Failure, migrate, type Program} from '../../src/lang/index.js'
import {isWithin, processorTimer} from '../support/processor-time.js'
import {temporaryFolder} from '../support/temporary.js'

function checked(source: string): Program {
  const program = checkProgram(source)
  assert.deepEqual(
    program.diagnostics.filter(({severity}) => severity === 'error').map(({message}) => message),
    [],
  )
  return program
}

/** A program on its own database. */
async function open(t: TestContext, source: string) {
  const program = checked(source)
  const path = join(await temporaryFolder(t), 'app.db')
  await migrate(program, path)
  const application = await Application.open(program, {path})
  t.after(() => application.close())
  const reply = async (name: string, ...args: unknown[]) => {
    const target = program.functions.find((made) => made.name === name)
    assert.ok(target, name)
    return application.call(target, args)
  }
  return {
    application,
    path,
    reply,
    call: async (name: string, ...args: unknown[]) => (await reply(name, ...args)).value,
    /** Ids of the rows that an endpoint returns, in order. */
    ids: async (name: string, ...args: unknown[]) =>
      ((await reply(name, ...args)).value as {_id: number}[]).map(({_id}) => _id),
  }
}

/** The output of `svc db explain` for the first operation of a function. */
function planOf(source: string, name: string) {
  const [row] = explain(checked(source), {query: name, all: false})
  assert.ok(row)
  return row.plan
}

const articles = `
@table type Article { title: str, body: str, note: Option[str], day: int }
@search_index Article.by_text on (title, body, note)
@endpoint(kind: mutation) fn add(title: str, body: str, note: Option[str], day: int = 0) to Id[Article] {
    return db.Article.insert({ title: title, body: body, note: note, day: day })
}
@endpoint(kind: mutation) fn change(id: int, body: str) to bool { return db.Article.update(id, { body: body }) }
@endpoint(kind: mutation) fn clear(id: int) to bool { return db.Article.update(id, { note: None }) }
@endpoint(kind: mutation) fn remove(id: int) to bool { return db.Article.delete(id) }
@endpoint(kind: mutation) fn regret(body: str) to Result[Unit] {
    let id = db.Article.insert({ title: "t", body: body, day: 0 })
    return Error("not so")
}
@endpoint(kind: query) fn find(text: str) to List[Article] { return db.Article.where({ body: { matches: text } }) }
@endpoint(kind: query) fn noted(text: str) to List[Article] { return db.Article.where({ note: { matches: text } }) }
@endpoint(kind: query) fn best(text: str) to List[Article] {
    return db.Article.where({ body: { matches: text } }).limit(2).select(title)
}
@endpoint(kind: query) fn latest(text: str) to List[Article] {
    return db.Article.where({ body: { matches: text } }).order_by(day, desc)
}
@endpoint(kind: query) fn since(text: str, day: int) to List[Article] {
    return db.Article.where({ day: { gte: day }, body: { matches: text } })
}
@endpoint(kind: query) fn many(text: str) to int { return db.Article.where({ body: { matches: text } }).count() }
@endpoint(kind: query) fn everywhere(text: str) to List[Article] {
    return db.Article.where({ or: [{ title: { matches: text } }, { body: { matches: text } }] })
}
@endpoint(kind: query) fn twice(title: str, body: str) to List[Article] {
    return db.Article.where({ title: { matches: title }, body: { matches: body } })
}
@endpoint(kind: query) fn others(text: str) to List[Article] {
    return db.Article.where({ not: { body: { matches: text } } })
}`

/** Articles with these bodies; ids start at 1. */
async function library(t: TestContext, ...bodies: string[]) {
  const made = await open(t, articles)
  for (const body of bodies) await made.call('add', 'title', body, null, 0)
  return made
}

describe('a table with a search index', () => {
  for (const [text, found] of [
    ['fox', [1, 2]],
    ['FOX', [1, 2]],
    ['quick fox', [1]],
    ['fox   quick', [1]],
    ['fo', []],
    ['quick quick', [1]],
    ['fox bird', []],
    ['"fox"', [1, 2]],
    ['"hello"', [3]],
    ['said "hello', [3]],
    ['he said "hello" now', [3]],
    ['hello" OR "fox', []],
    ['fox OR bird', []],
    ['fox AND quick', []],
    ['NOT', []],
    ['fox*', [1, 2]],
    ['^the', [1]],
    ['title:fox', []],
    ['body', []],
    ['{title}: fox', []],
    ['(fox', [1, 2]],
    ["o'clock", [3]],
    ['title', []],
    ['', []],
    ['  \n\t ', []],
  ] as const)
    it(`finds with ${JSON.stringify(text)} the rows that contain every word`, async (t) => {
      const {ids} = await library(t, 'the quick brown fox', 'a fox', `he said "hello" at five o'clock now`)
      assert.deepEqual((await ids('find', text)).sort(), found)
    })

  it('searches only the given column', async (t) => {
    const {call, ids} = await open(t, articles)
    await call('add', 'fox', 'bird', null, 0)
    await call('add', 'bird', 'fox', 'cat', 0)
    assert.deepEqual([await ids('find', 'fox'), await ids('noted', 'cat'), await ids('noted', 'fox')], [[2], [2], []])
    assert.deepEqual(await ids('twice', 'bird', 'fox'), [2])
    assert.deepEqual(await ids('everywhere', 'fox'), [1, 2])
    assert.deepEqual(await ids('others', 'fox'), [1])
  })

  it('returns the best match first, equal matches by id', async (t) => {
    const {ids, reply} = await library(
      t,
      'a fox and a bird and a cat and a dog in the wood',
      'a fox and a fox and a fox',
      'fox',
      'a fox and a bird and a cat and a dog in the wood',
      'no such animal',
    )
    assert.deepEqual(await ids('find', 'fox'), [2, 3, 1, 4])
    assert.deepEqual(await reply('best', 'fox'), {
      kind: 'value',
      value: [
        {_id: 2, title: 'title'},
        {_id: 3, title: 'title'},
      ],
      retrieval: 'fts',
    })
  })

  it('returns matches in the order of order_by', async (t) => {
    const {call, ids} = await open(t, articles)
    await call('add', 't', 'a fox and a bird and a cat', null, 3)
    await call('add', 't', 'fox', null, 1)
    await call('add', 't', 'a fox too', null, 3)
    assert.deepEqual(await ids('find', 'fox'), [2, 3, 1])
    assert.deepEqual(await ids('latest', 'fox'), [1, 3, 2])
    assert.deepEqual(await ids('since', 'fox', 2), [3, 1])
    assert.equal(await call('many', 'fox'), 3)
  })

  it('finds updated rows by their new words, and no deleted rows', async (t) => {
    const {call, ids} = await library(t, 'a fox', 'a bird')
    await call('change', 1, 'a cat')
    assert.deepEqual([await ids('find', 'fox'), await ids('find', 'cat')], [[], [1]])
    await call('remove', 1)
    assert.deepEqual([await ids('find', 'cat'), await ids('find', 'bird')], [[], [2]])
    await call('add', 't', 'a dog', 'a mark', 0)
    await call('clear', 3)
    assert.deepEqual([await ids('noted', 'mark'), await ids('find', 'dog')], [[], [3]])
  })

  it('finds no rows of a rolled-back mutation', async (t) => {
    const {ids, reply} = await library(t, 'a fox')
    assert.equal((await reply('regret', 'a second fox')).kind, 'domain')
    assert.deepEqual(await ids('find', 'fox'), [1])
    assert.deepEqual(await ids('find', 'second'), [])
  })

  it('is fast if thousands of rows match', async (t) => {
    const {application, call, ids} = await open(t, articles)
    const insert = application.writer.database.prepare(`INSERT INTO article (title, body, day) VALUES ('t', ?, 0)`)
    application.writer.database.transaction(() => {
      for (let i = 0; i < 20_000; i++) insert.run(`fox ${'and '.repeat(i % 40)}`)
    })()
    const elapsed = processorTimer()
    assert.equal(await call('many', 'fox'), 20_000)
    assert.equal((await ids('best', 'fox')).length, 2)
    const ms = elapsed()
    assert.ok(isWithin(ms, 2000), `${ms} ms`)
  })

  it('is explained as an index search', () => {
    const {retrieval, sql, capabilities} = planOf(articles, 'latest')
    assert.equal(retrieval, 'fts')
    assert.ok(sql.includes(`"_id" IN (SELECT rowid FROM "article_by_text_fts" WHERE "article_by_text_fts" MATCH ?)`))
    assert.equal(capabilities.retrieval_mode, undefined)
    assert.equal(planOf(articles, 'everywhere').retrieval, 'fts')
    assert.match(planOf(articles, 'find').sql, /ORDER BY "_text_rank" ASC, "_id" ASC$/)
  })
})

describe('a table without a search index', () => {
  const plain = articles.replace(/@search_index.*\n/, '')

  it('is searched for substrings', async (t) => {
    const {call, ids, reply} = await open(t, plain)
    await call('add', 't', 'the quick brown fox', null, 0)
    await call('add', 't', '100% sure_ly', null, 0)
    for (const [text, found] of [
      ['fox', [1]],
      ['FO', [1]],
      ['fox qui', [1]],
      ['fox bird', []],
      ['100%', [2]],
      ['%', []],
      ['sure_', [2]],
      ['s_re', []],
      ['"fox"', []],
    ] as const)
      assert.deepEqual(await ids('find', text), found, text)
    assert.deepEqual(await ids('noted', 'fox'), [])
    assert.deepEqual(await ids('others', 'fox'), [2])
    assert.equal((await reply('find', 'fox')).retrieval, 'contains')
  })

  it('is explained as a search without an index', () => {
    const using = `@endpoint(kind: query) fn hinted(text: str) to List[Article] {
      return db.Article.where({ body: { matches: text } }).using(fts)
    }`
    assert.equal(planOf(plain, 'find').retrieval, 'contains')
    const {retrieval, capabilities} = planOf(plain + using, 'hinted')
    assert.deepEqual([retrieval, capabilities.retrieval_mode], ['contains', 'fts'])
  })
})

const places = `
@table type Place { name: str, kind: str, at: List[float], mark: Option[List[float]] }
@search_index Place.by_name on (name)
@vector_index Place.by_at on (at) { dimensions: 2 }
@vector_index Place.by_mark on (mark) { dimensions: 2 }
@endpoint(kind: mutation) fn add(name: str, kind: str, at: List[float], mark: Option[List[float]]) to Id[Place] {
    return db.Place.insert({ name: name, kind: kind, at: at, mark: mark })
}
@endpoint(kind: mutation) fn try_add(at: List[float]) to Result[Id[Place]] {
    return db.Place.insert({ name: "n", kind: "k", at: at })
}
@endpoint(kind: mutation) fn move(id: int, at: List[float]) to bool { return db.Place.update(id, { at: at }) }
@endpoint(kind: mutation) fn mark(id: int, at: Option[List[float]]) to bool { return db.Place.update(id, { mark: at }) }
@endpoint(kind: mutation) fn remove(id: int) to bool { return db.Place.delete(id) }
@endpoint(kind: query) fn near(at: List[float], k: int) to List[Place] {
    return db.Place.where({ at: { near: at } }).limit(k)
}
@endpoint(kind: query) fn nearest(at: List[float]) to List[Place] { return db.Place.where({ at: { near: at } }) }
@endpoint(kind: query) fn marked(at: List[float]) to List[Place] { return db.Place.where({ mark: { near: at } }) }
@endpoint(kind: query) fn near_of(at: List[float], kind: str, k: int) to List[Place] {
    return db.Place.where({ kind: kind, at: { near: at } }).limit(k)
}
@endpoint(kind: query) fn by_name(at: List[float], k: int) to List[Place] {
    return db.Place.where({ at: { near: at } }).order_by(name, desc).limit(k)
}
@endpoint(kind: query) fn count_of(kind: str) to int { return db.Place.filter({ kind: kind }).count() }
@endpoint(kind: query) fn both(text: str, at: List[float], k: int) to List[Place] {
    return db.Place.where({ name: { matches: text }, at: { near: at } }).limit(k)
}
@endpoint(kind: query) fn both_of(text: str, at: List[float], kind: str, k: int) to List[Place] {
    return db.Place.where({ name: { matches: text }, at: { near: at }, kind: kind }).limit(k)
}
@endpoint(kind: query) fn fused(text: str, at: List[float], k: int) to List[Place] {
    return db.Place.where({ name: { matches: text }, at: { near: at } }).using(hybrid).limit(k)
}
@endpoint(kind: query) fn by_text(text: str, at: List[float], k: int) to List[Place] {
    return db.Place.where({ name: { matches: text }, at: { near: at } }).using(fts).limit(k)
}
@endpoint(kind: query) fn by_vector(text: str, at: List[float], k: int) to List[Place] {
    return db.Place.where({ name: { matches: text }, at: { near: at } }).using(vector).limit(k)
}
@endpoint(kind: query) fn with_kind(text: str, at: List[float], k: int) to List[Place] {
    return db.Place.where({ kind: { matches: text }, at: { near: at } }).limit(k)
}
@endpoint(kind: query) fn kind_by_text(text: str, at: List[float]) to List[Place] {
    return db.Place.where({ kind: { matches: text }, at: { near: at } }).using(fts)
}`

/** A vector at an angle of the given degrees from `east`. */
const angle = (degrees: number) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
const east = angle(0)

describe('a table with a vector index', () => {
  /** Places at these angles; ids start at 1. */
  async function at(t: TestContext, ...degrees: number[]) {
    const made = await open(t, places)
    for (const each of degrees) await made.call('add', `p${each}`, each < 90 ? 'low' : 'high', angle(each), null)
    return made
  }

  it('returns the nearest rows first, up to the limit', async (t) => {
    const {ids, reply} = await at(t, 50, 10, 170, 30, 90)
    assert.deepEqual(await ids('near', east, 3), [2, 4, 1])
    assert.deepEqual(await ids('near', angle(180), 2), [3, 5])
    assert.deepEqual(await ids('near', east, 99), [2, 4, 1, 5, 3])
    assert.deepEqual([await ids('near', east, 0), await ids('near', east, -1)], [[], []])
    assert.equal((await reply('near', east, 3)).retrieval, 'vector')
  })

  it('measures angles, not lengths', async (t) => {
    const {call, ids} = await at(t, 20)
    await call('add', 'far', 'low', [1000, 0], null)
    assert.deepEqual(await ids('near', [0.001, 0], 2), [2, 1])
  })

  it('returns ten rows without a limit', async (t) => {
    const {ids} = await at(t, ...Array.from({length: 15}, (_, i) => i * 5))
    assert.deepEqual(await ids('nearest', east), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('searches only rows that match the other conditions', async (t) => {
    const {ids} = await at(t, 120, 10, 100, 20, 30, 40)
    assert.deepEqual(await ids('near_of', east, 'high', 2), [3, 1])
    assert.deepEqual(await ids('near_of', east, 'low', 2), [2, 4])
    assert.deepEqual(await ids('near_of', east, 'none', 2), [])
  })

  it('returns the nearest rows in the order of order_by', async (t) => {
    const {ids} = await at(t, 10, 20, 30, 99)
    assert.deepEqual(await ids('by_name', east, 3), [3, 2, 1])
  })

  it('reflects changes and skips rows without a vector', async (t) => {
    const {call, ids} = await at(t, 10, 20, 30)
    await call('move', 3, angle(1))
    assert.deepEqual(await ids('near', east, 2), [3, 1])
    await call('remove', 3)
    assert.deepEqual(await ids('near', east, 2), [1, 2])
    assert.deepEqual(await ids('marked', east), [])
    await call('mark', 2, east)
    assert.deepEqual(await ids('marked', east), [2])
    await call('mark', 2, null)
    assert.deepEqual(await ids('marked', east), [])
  })

  it('accepts vectors as bytes: float32, little-endian', async (t) => {
    const {call, ids} = await open(
      t,
      `@table type Image { sketch: bytes }
@vector_index Image.by_sketch on (sketch) { dimensions: 2 }
@endpoint(kind: mutation) fn add(sketch: bytes) to Id[Image] { return db.Image.insert({ sketch: sketch }) }
@endpoint(kind: query) fn like(at: List[float]) to List[Image] { return db.Image.where({ sketch: { near: at } }) }`,
    )
    const bytes = (vector: number[]) => {
      const buffer = Buffer.alloc(8)
      vector.forEach((each, i) => {
        buffer.writeFloatLE(each, 4 * i)
      })
      return buffer
    }
    await call('add', bytes(angle(80)))
    await call('add', bytes(angle(10)))
    assert.deepEqual(await ids('like', east), [2, 1])
  })

  for (const [name, vector] of [
    ['more', [1, 0, 0]],
    ['fewer', [1]],
    ['no', []],
  ] as const)
    it(`rejects vectors of ${name} dimensions and continues`, async (t) => {
      const {call, ids, reply} = await at(t, 10)
      const isLogged = (error: unknown) => error instanceof Failure && error.reason === 'DB_ERROR'
      await assert.rejects(() => call('near', vector, 2), isLogged)
      await assert.rejects(() => call('add', 'x', 'low', vector, null), isLogged)
      await assert.rejects(() => call('move', 1, vector), isLogged)
      assert.equal((await reply('try_add', vector)).kind, 'domain')
      assert.deepEqual([await ids('near', east, 5), await call('count_of', 'k')], [[1], 0])
      assert.equal(await call('add', 'y', 'low', angle(5), null), 2)
    })
})

describe('a hybrid search', () => {
  const k = 60
  const candidates = 50
  /** Number of words around the search term, and angles, such that neither ranking alone determines the order. */
  const around = [9, 0, 25, 3, 14, 40, 6, 1, 31, 19]
  const isWordy = (i: number) => i % 6 === 5
  const nameOf = (i: number) => (isWordy(i) ? `fox ${'and '.repeat(around[(i - 5) / 6] ?? 0)}`.trim() : 'bird')

  /** Sixty places, each farther from `east` than the previous one. */
  async function sixty(t: TestContext) {
    const made = await open(t, places)
    for (let i = 0; i < 60; i++) await made.call('add', nameOf(i), i % 2 === 0 ? 'even' : 'odd', angle(i * 2), null)
    return made
  }

  /** Ids by reciprocal rank fusion of two lists. Source: Cormack, Clarke and Büttcher 2009. */
  function fuse(...lists: number[][]): number[] {
    const scores = new Map<number, number>()
    for (const list of lists)
      for (const [rank, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (k + rank + 1))
    return [...scores].sort(([a, left], [b, right]) => right - left || a - b).map(([id]) => id)
  }

  const all = Array.from({length: 60}, (_, i) => i + 1)
  const byText = all.filter((id) => isWordy(id - 1)).sort((a, b) => nameOf(a - 1).length - nameOf(b - 1).length)

  it('uses the ranking that .using specifies', async (t) => {
    const {ids, reply} = await sixty(t)
    assert.deepEqual(await ids('by_text', 'fox', east, 99), byText)
    assert.deepEqual(await ids('by_vector', 'fox', east, 7), [1, 2, 3, 4, 5, 6, 7])
    assert.equal((await reply('by_text', 'fox', east, 9)).retrieval, 'fts')
    assert.equal((await reply('by_vector', 'fox', east, 9)).retrieval, 'vector')
  })

  it('fuses both rankings, with and without .using(hybrid)', async (t) => {
    const {ids, reply} = await sixty(t)
    const expected = fuse(byText, all.slice(0, candidates))
    assert.ok(expected[0] !== byText[0] && expected[0] !== 1, 'neither list alone gives the order')
    for (const name of ['both', 'fused']) {
      assert.deepEqual(await ids(name, 'fox', east, 12), expected.slice(0, 12))
      assert.equal((await reply(name, 'fox', east, 12)).retrieval, 'hybrid')
    }
    assert.deepEqual(await ids('both', 'fox', east, 60), fuse(byText, all))
    assert.deepEqual(await ids('both', 'cat', east, 3), [1, 2, 3])
  })

  it('ranks only rows that match the other conditions', async (t) => {
    const {ids} = await sixty(t)
    const isOdd = (id: number) => (id - 1) % 2 === 1
    const expected = fuse(byText.filter(isOdd), all.filter(isOdd))
    assert.deepEqual(await ids('both_of', 'fox', east, 'odd', 12), expected.slice(0, 12))
    assert.deepEqual(await ids('both_of', 'fox', east, 'even', 2), [1, 3])
    assert.deepEqual(await ids('both_of', 'fox', east, 'none', 2), [])
  })

  it('finds a distant row if no nearer candidate matches the other conditions', async (t) => {
    const {call, ids} = await sixty(t)
    await call('add', 'bird', 'far', angle(170), null)
    assert.deepEqual(await ids('both_of', 'fox', east, 'far', 3), [61])
  })

  it('treats words without an index as a condition', async (t) => {
    const {ids, reply} = await sixty(t)
    assert.deepEqual(await ids('with_kind', 'od', east, 3), [2, 4, 6])
    assert.equal((await reply('with_kind', 'od', east, 3)).retrieval, 'vector')
    assert.equal((await ids('kind_by_text', 'od', east)).length, 30)
    assert.equal((await reply('kind_by_text', 'od', east)).retrieval, 'contains')
  })

  it('reports the retrieval mode', () => {
    const modes = ['near', 'near_of', 'both', 'fused', 'by_text', 'by_vector', 'with_kind', 'kind_by_text', 'count_of']
    assert.deepEqual(
      modes.map((name) => planOf(places, name).retrieval),
      ['vector', 'vector', 'hybrid', 'hybrid', 'fts', 'vector', 'vector', 'contains', undefined],
    )
  })
})

describe('.using without a search', () => {
  const query = (hint: string) => `@table type Doc { title: str, body: str }
@search_index Doc.by_text on (title, body)
@endpoint(kind: query) fn all() to List[Doc] { return db.Doc.all()${hint} }
@endpoint(kind: query) fn some(title: str) to List[Doc] {
    return db.Doc.where({ title: title, body: { contains: "x" } }).order_by(title).limit(3)${hint}
}
@endpoint(kind: query) fn one(id: int) to Option[Doc] { return db.Doc.get(id)${hint} }
@endpoint(kind: query) fn many() to int { return db.Doc.count()${hint} }`

  for (const mode of ['fts', 'search', 'vector', 'hybrid'])
    it(`does not change the SQL: ${mode}`, () => {
      for (const name of ['all', 'some', 'one', 'many']) {
        const {sql, retrieval, capabilities} = planOf(query(`.using(${mode})`), name)
        assert.equal(sql, planOf(query(''), name).sql)
        assert.equal(retrieval, undefined)
        assert.equal(capabilities.retrieval_mode, mode === 'search' ? 'fts' : mode)
      }
    })
})

describe('the vector extension', () => {
  const version = async (t: TestContext, source: string) => {
    const {application, path} = await open(t, source)
    const ask = 'SELECT vec_version()'
    const other = await connect(application.program, path, true)
    t.after(() => other.close())
    const connections = [application.writer, other, await application.readers.use((reader) => reader)]
    return () => connections.map(({database}) => database.prepare(ask).pluck().get())
  }

  it('is loaded in every connection of a program with a vector index', async (t) => {
    for (const found of (await version(t, places))()) assert.match(String(found), /^v\d/)
  })

  it('is not loaded for a program without one', async (t) => {
    assert.throws(await version(t, articles), /no such function: vec_version/)
  })
})
