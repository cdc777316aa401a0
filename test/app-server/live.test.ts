import assert from 'node:assert/strict'
import {rename} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {LiveFeed} from '../../src/app-server/index.js'
import {
  Application,
  allChangesAfter,
  appDatabase,
  type Change,
  checkProgram,
  eventId,
  migrate,
  type Received,
  readEventId,
  resumePoint,
} from '../../src/lang/index.js'
import {backUpDatabase, replaceDatabase, restoreDatabase} from '../../src/store/index.js'
import {serveDb} from '../support/db-server.js'
import {EventStream} from '../support/event-stream.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'

const source = `@table type Message { text: str }
@endpoint(kind: query) fn feed() to List[Message] { return db.Message.all().live("chat.feed") }
@endpoint(kind: query) fn size() to int { return db.Message.count() }
@endpoint(kind: mutation) fn post(text: str) to Id[Message] { return db.Message.insert({ text: text }) }
@endpoint(kind: server) fn loose(text: str) to Id[Message] { return db.Message.insert({ text: text }) }
@endpoint(kind: mutation) fn refused(text: str) to Result[int] {
    db.Message.insert({ text: text })?
    return Error("no")
}
`

const ids = (stream: Pick<EventStream, 'events'>) => stream.events.map(({id}) => id)
const upTo = (count: number) => Array.from({length: count}, (_, i) => i + 1)

describe('a program served by two processes on one database', () => {
  it('loses no write, and sends each write to two clients once and in order, even after a reconnect', async (t) => {
    const folder = await temporaryFolder(t)
    const [one, two] = [await serveDb(t, folder, source), await serveDb(t, folder, source)]
    const live = (server: typeof one) => `${server.baseUrl}/api/live/chat.feed`
    const steady = await EventStream.open(live(one))
    const first = await EventStream.open(live(two))
    const write = async (server: typeof one, path: string) => {
      for (let i = 0; i < 100; i++) assert.equal((await server.post(path, {text: `message ${i}`})).status, 200)
    }
    const writing = Promise.all([write(one, '/api/mutation/post'), write(two, '/api/loose')])
    await first.received(40)
    first.close()
    const seen = ids(first)
    // Changes during the disconnection are sent afterwards.
    await steady.received(Math.min(200, first.lastId + 20))
    const second = await EventStream.open(live(one), {'last-event-id': first.lastEventId})
    await writing
    await steady.received(200)
    await second.received(200 - seen.length)
    assert.deepEqual(ids(steady), upTo(200))
    assert.deepEqual([...seen, ...ids(second)], upTo(200))
    assert.deepEqual((await one.get('/api/query/size')).json, 200)
    steady.close()
    second.close()
  })

  it('resumes a client after the server is killed and restarted', async (t) => {
    const folder = await temporaryFolder(t)
    const before = await serveDb(t, folder, source)
    const first = await EventStream.open(`${before.baseUrl}/api/live/chat.feed`)
    for (let i = 0; i < 20; i++) await before.post('/api/mutation/post', {text: 'a'})
    await first.received(20)
    await before.stop('SIGKILL')
    const after = await serveDb(t, folder, source)
    for (let i = 0; i < 20; i++) await after.post('/api/mutation/post', {text: 'b'})
    const second = await EventStream.open(`${after.baseUrl}/api/live/chat.feed?after_id=${first.lastId}`)
    await second.received(20)
    assert.deepEqual([...ids(first), ...ids(second)], upTo(40))
    second.close()
  })
})

describe('a program whose database was restored', () => {
  it('tells a client that its position no longer exists, and sends it everything new', async (t) => {
    const folder = await temporaryFolder(t)
    const [path, file] = [join(folder, 'app.db'), join(folder, 'backup.db')]
    const write = async (server: Awaited<ReturnType<typeof serveDb>>, count: number) => {
      for (let i = 0; i < count; i++) await server.post('/api/mutation/post', {text: 'a'})
    }
    const before = await serveDb(t, folder, source)
    await write(before, 3)
    await backUpDatabase(path, appDatabase, {file, place: rename})
    await write(before, 3)
    await before.stop()
    await restoreDatabase(file, path, appDatabase)
    const after = await serveDb(t, folder, source)
    await write(after, 2)
    const from = async (id: number, count: number) => {
      const stream = await EventStream.open(`${after.baseUrl}/api/live/chat.feed`, {'last-event-id': String(id)})
      await stream.received(count)
      stream.close()
      return stream.events
    }
    const all = await from(0, 5)
    const [, , third, fourth, fifth] = ids({events: all}) as [number, number, number, number, number]
    // New ids differ from those that were undone, which were 4 to 6.
    assert.ok(third === 3 && fourth > 6 && fifth === fourth + 1)
    for (const [id, expected] of [
      [2, ['change 3', `change ${fourth}`, `change ${fifth}`]],
      [5, [`reset ${fourth - 1}`, `change ${fourth}`, `change ${fifth}`]],
      [fourth - 1, [`change ${fourth}`, `change ${fifth}`]],
      [fifth + 1000, [`reset ${fifth}`]],
    ] as const)
      assert.deepEqual(
        (await from(id, expected.length)).map(({event, id: at}) => `${event} ${at}`),
        expected,
      )
    await after.stop()

    await replaceDatabase(path, {
      write: async (partial) => void (await migrate(checkProgram(source), partial)),
      kind: appDatabase,
    })
    const last = await serveDb(t, folder, source)
    const stream = await EventStream.open(`${last.baseUrl}/api/live/chat.feed?after_id=${fifth}`)
    await write(last, 1)
    await stream.received(2)
    stream.close()
    assert.deepEqual(
      stream.events.map(({event, id}) => [event, id > fifth]),
      [
        ['reset', true],
        ['change', true],
      ],
    )
  })
})

describe('a resume position', () => {
  it('is refused if its change is another one, or if later ones were pruned', async (t) => {
    const path = join(await temporaryFolder(t), 'app.db')
    const program = checkProgram(source)
    await migrate(program, path)
    const application = await Application.open(program, {path})
    t.after(() => application.close())
    const post = program.functions.find(({name}) => name === 'post')
    assert.ok(post !== undefined)
    for (let i = 0; i < 5; i++) await application.call(post, ['text'])
    const {database} = application.writer
    const idOf = (id: number) => eventId(allChangesAfter(application.writer, id - 1, 1)[0] as Change)
    const resume = (id: string) => resumePoint(application.writer, readEventId(id) as Received)
    const third = idOf(3)
    assert.deepEqual(resume(third), {after: 3, isReset: false})
    // A file with the same number of changes was copied over the database.
    database.exec("UPDATE codex_change_log SET created_at = datetime('now', '+1 day') WHERE id = 3")
    assert.deepEqual(resume(third), {after: 5, isReset: true})
    assert.deepEqual(resume('3'), {after: 3, isReset: false})
    database.exec('DELETE FROM codex_change_log WHERE id <= 4')
    for (const [id, isReset] of [
      [0, false],
      [3, true],
      [4, false],
      [5, false],
    ] as const)
      assert.deepEqual(resume(String(id)), {after: id, isReset})
    database.exec('DELETE FROM codex_change_log')
    assert.deepEqual(resume('4'), {after: 4, isReset: true})
    assert.deepEqual(resume('5'), {after: 5, isReset: false})
  })
})

describe('a feed of changes', () => {
  it('sends every change if there are more than one page', async (t) => {
    const program = checkProgram(source)
    const application = await Application.open(program, {path: ':memory:'})
    const feed = await LiveFeed.start(application)
    t.after(() => {
      feed.close()
      application.close()
    })
    const sent: Buffer[] = []
    const write = async (frames: unknown) => void sent.push(frames as Buffer)
    feed.subscribe('chat.feed', undefined, {write, ping() {}, end() {}, gone: new AbortController().signal})
    const post = program.functions.find(({name}) => name === 'post')
    assert.ok(post !== undefined)
    await Promise.all(Array.from({length: 2500}, () => application.call(post, ['text'])))
    const received = () =>
      Array.from(
        Buffer.concat(sent)
          .toString()
          .matchAll(/^id: (\d+)-[0-9a-f]{8}$/gm),
        ([, id]) => Number(id),
      )
    await until(() => received().length >= 2500, 'all are received')
    assert.deepEqual(received(), upTo(2500))
  })
})

describe('a subscriber', () => {
  it('receives nothing of a rolled-back mutation, and does not prevent the server from stopping', async (t) => {
    const server = await serveDb(t, await temporaryFolder(t), source)
    const stream = await EventStream.open(`${server.baseUrl}/api/live/chat.feed?after_id=0`)
    assert.equal((await server.post('/api/mutation/refused', {text: 'a'})).status, 422)
    await server.post('/api/mutation/post', {text: 'b'})
    await stream.received(1)
    assert.deepEqual(stream.events[0]?.data, {...stream.events[0]?.data, topic: 'chat.feed', change_kind: 'insert'})
    assert.equal(stream.events.length, 1)
    const started = Date.now()
    await server.stop('SIGTERM')
    assert.ok(Date.now() - started < 60_000)
    stream.close()
  })

  it('gets 404 for an undeclared topic and 400 for an invalid id', async (t) => {
    const server = await serveDb(t, await temporaryFolder(t), source)
    assert.equal((await server.get('/api/live/other')).status, 404)
    assert.equal((await server.get('/api/live/chat.feed?after_id=x')).status, 400)
  })
})
