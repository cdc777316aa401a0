import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {cp, mkdir, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import type {SpeechEventV1} from '../../src/contracts/index.js'
import {RemoteSession} from '../../src/speech/index.js'
import {Sessions} from '../../src/speech-server/index.js'
import {type CutProxy, startCutProxy} from '../support/cut-proxy.js'
import {talkOf} from '../support/talk.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'
import {type Client, defaultSettings, hello, helloText, pcmOf, results, speechSuite} from './support.js'

const {service, start, startSession, withSettings} = speechSuite()

type Final = Extract<SpeechEventV1, {type: 'final'}>
let talk: Float32Array
let uninterrupted: ReturnType<typeof results>
before(async () => {
  talk = await talkOf(14)
  const finals: Final[] = []
  const session = await startSession(finals)
  session.push(talk)
  await session.commit()
  await session.close()
  uninterrupted = results(finals)
  assert.ok(uninterrupted.length > 3, 'several utterances')
})

/** Audio that the client keeps, samples: of 2 s that are not stored yet, it waits for 1 s. */
const maxKept = 32_000

/** A server that keeps its sessions in a folder. */
async function startKeeping(folder: string, ttlMs = 60_000): Promise<Client> {
  return start({sessions: await Sessions.start(service, {folder, ttlMs})})
}

interface Speaker {
  session: RemoteSession
  events: SpeechEventV1[]
  gaps: {fromSec: number; toSec: number}[]
  proxy: CutProxy
  finals(): Final[]
}

/** A client of a server behind a connection that can be cut. */
async function speaker(test: TestContext, client: Client, options: {maxKept?: number} = {}): Promise<Speaker> {
  const proxy = await startCutProxy(client.server.port)
  const [events, gaps]: [SpeechEventV1[], {fromSec: number; toSec: number}[]] = [[], []]
  const session = await RemoteSession.start({
    url: `http://127.0.0.1:${proxy.port}`,
    delaysMs: [1, 20],
    ...options,
  })
  void (async () => {
    for await (const event of session)
      if (event.type === 'gap') gaps.push({fromSec: event.fromSec, toSec: event.toSec})
      else if ('event' in event) events.push(event.event)
  })()
  test.after(async () => {
    await session.close()
    await proxy.close()
  })
  const finals = () => events.filter((event): event is Final => event.type === 'final')
  return {session, events, gaps, proxy, finals}
}

/** Says a part of the talk; the server has most of it afterwards. */
async function say({session}: Speaker, fromSec: number, toSec: number): Promise<void> {
  for (let at = fromSec * 16_000; at < toSec * 16_000; at += 1600) {
    session.push(talk.slice(at, Math.min(at + 1600, toSec * 16_000)))
    await session.settle()
  }
}

const sessionFolders = async (folder: string) =>
  (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('speech-'))

describe('a live session that loses its connection', () => {
  it('continues without a lost or repeated word', async (test) => {
    const one = await speaker(test, await startKeeping(await temporaryFolder(test)), {maxKept})
    await say(one, 0, 4.3)
    one.proxy.cut()
    await say(one, 4.3, 9.05)
    one.proxy.cut()
    await say(one, 9.05, 9.5)
    one.proxy.cut()
    await say(one, 9.5, 14)
    await one.session.commit()
    assert.deepEqual(results(one.finals()), uninterrupted)
    assert.deepEqual(one.gaps, [])
    assert.deepEqual(
      one.finals().map(({utterance}) => utterance),
      uninterrupted.map((_, i) => i),
    )
  })

  it('continues on another server process from its files', async (test) => {
    const [first, second] = [await temporaryFolder(test), join(await temporaryFolder(test), 'sessions')]
    const one = await speaker(test, await startKeeping(first), {maxKept})
    await say(one, 0, 7.7)
    // What a process that is killed now leaves behind.
    await cp(first, second, {recursive: true})
    await rm(join(second, 'lock'))
    one.proxy.target = (await startKeeping(second)).server.port
    one.proxy.cut()
    await say(one, 7.7, 14)
    await one.session.commit()
    assert.deepEqual(results(one.finals()), uninterrupted)
    assert.deepEqual(one.gaps, [])
  })

  it('continues after the server was stopped and started again', async (test) => {
    const folder = await temporaryFolder(test)
    const stopped = await startKeeping(folder)
    const one = await speaker(test, stopped, {maxKept})
    await say(one, 0, 5)
    await stopped.server.close(0)
    const restarted = await startKeeping(folder)
    one.proxy.target = restarted.server.port
    await say(one, 5, 14)
    await one.session.commit()
    assert.deepEqual(results(one.finals()), uninterrupted)
  })

  it('reports audio that did not fit the buffer of the client, and keeps its times', async (test) => {
    const one = await speaker(test, await startKeeping(await temporaryFolder(test)), {maxKept})
    const {target} = one.proxy
    await say(one, 0, 2)
    await until(
      () => one.events.some((event) => 'next_sample' in event && event.next_sample === 32_000),
      'all is stored',
    )
    one.proxy.target = 1
    one.proxy.cut()
    for (let at = 2 * 16_000; at < 7 * 16_000; at += 1600) one.session.push(talk.slice(at, at + 1600))
    one.proxy.target = target
    await until(() => one.gaps.length > 0, 'the client is connected again')
    await say(one, 7, 14)
    await one.session.commit()
    assert.deepEqual(one.gaps, [{fromSec: 2, toSec: 5}])
    assert.deepEqual(results(one.finals()).at(-1), uninterrupted.at(-1))
  })

  it('starts again if the session has expired, and reports what is lost', async (test) => {
    const folder = await temporaryFolder(test)
    const one = await speaker(test, await startKeeping(folder, 1), {maxKept})
    const {target} = one.proxy
    await say(one, 0, 4)
    await until(() => one.finals().length === 1, 'the first final')
    one.proxy.target = 1
    one.proxy.cut()
    await until(async () => (await sessionFolders(folder)).length === 0, 'the session has expired')
    one.proxy.target = target
    await say(one, 4, 14)
    await one.session.commit()
    assert.equal(one.gaps.length, 1)
    assert.equal(one.gaps[0]?.fromSec, (uninterrupted[0]?.end_ms ?? 0) / 1000)
    assert.deepEqual(results(one.finals()).at(-1), uninterrupted.at(-1))
  })

  it('loses only its current utterance on a server that keeps nothing', async (test) => {
    const one = await speaker(test, await start(), {maxKept})
    await say(one, 0, 4)
    await until(() => one.finals().length > 0, 'the first final')
    one.proxy.cut()
    await say(one, 4, 14)
    await one.session.commit()
    assert.deepEqual(results(one.finals())[0], uninterrupted[0])
    assert.deepEqual(
      one.gaps.map(({fromSec}) => fromSec),
      [(uninterrupted[0]?.end_ms ?? 0) / 1000],
    )
    assert.deepEqual(results(one.finals()).at(-1), uninterrupted.at(-1))
  })
})

describe('a resumed connection', () => {
  let sound: Buffer
  before(async () => {
    sound = await pcmOf(hello)
  })

  it('receives next_sample, and the final results that it does not have', async (test) => {
    const folder = await temporaryFolder(test)
    const client = await startKeeping(folder)
    const first = client.live('?continuous=1')
    const {session_id: id, next_sample: next} = await first.next('ready')
    assert.equal(next, 0)
    first.socket.send(sound)
    first.op({op: 'commit'})
    const final = await first.next('final')
    assert.equal(final.next_sample, sound.length / 2)
    first.socket.terminate()
    const all = client.live(`?session=${id}`)
    const [ready] = await Promise.all([all.next('ready'), all.next('final')])
    assert.deepEqual([ready.session_id, ready.next_sample], [id, sound.length / 2])
    assert.deepEqual(all.ofType('final'), [final])
    const none = client.live(`?session=${id}&finals=1`)
    await none.next('ready')
    assert.deepEqual((await all.closed).code, 1008)
    // Sent again from the start: the server has all of it.
    none.socket.send(sound)
    none.op({op: 'cancel'})
    await none.closed
    assert.deepEqual(none.ofType('final'), [])
    await until(() => !existsSync(join(folder, id)), 'the files of the session are deleted')
  })

  it('skips audio that the server has', async (test) => {
    const client = await startKeeping(await temporaryFolder(test))
    const first = client.live()
    const {session_id: id} = await first.next('ready')
    first.socket.send(sound.subarray(0, 40_000))
    await until(() => first.ofType('partial').some((one) => one.next_sample === 20_000), 'the audio is stored')
    first.socket.terminate()
    const second = client.live(`?session=${id}&from=10000`)
    await second.next('ready')
    second.socket.send(sound.subarray(20_000))
    second.op({op: 'commit'})
    assert.equal((await second.next('final')).text, helloText)
    assert.equal((await second.closed).code, 1000)
  })

  it('is refused for an unknown session, and for invalid positions', async (test) => {
    const client = await startKeeping(await temporaryFolder(test))
    assert.equal(await client.live('?session=speech-1').refused, 404)
    assert.equal(await client.live('?session=..%2F..').refused, 404)
    assert.equal(await client.live('?from=-1').refused, 400)
    const far = client.live('?from=99999999')
    assert.equal((await far.closed).code, 1008)
    assert.equal(far.ofType('error')[0]?.error, 'speech_gap_too_long')
  })

  it('is possible after the server has closed the connection because no audio arrived', async (test) => {
    const client = await startKeeping(await temporaryFolder(test))
    const first = client.live()
    // The limit of the session starts with it, so the audio arrives at once.
    await withSettings({session: {...defaultSettings.session, captureTimeoutMs: 2000}}, async () => {
      first.socket.once('open', () => first.socket.send(sound))
      await first.next('ready')
    })
    assert.equal((await first.closed).code, 1000)
    assert.equal(first.ofType('error')[0]?.error, 'speech_capture_timeout')
    const id = first.ofType('ready')[0]?.session_id
    const second = client.live(`?session=${id}`)
    second.socket.once('open', () => second.op({op: 'commit'}))
    assert.equal((await second.next('final')).text, helloText)
  })
})

describe('the files of a session', () => {
  it('are readable only by their owner, and deleted when the session ends', async (test) => {
    const folder = await temporaryFolder(test)
    const client = await startKeeping(folder)
    const live = client.live('?continuous=1')
    const {session_id: id} = await live.next('ready')
    live.socket.send(await pcmOf(hello))
    live.op({op: 'commit'})
    await live.next('final')
    const files = await readdir(join(folder, id))
    assert.deepEqual([...files].sort(), ['finals.ndjson', 'session.json', 'state'])
    if (process.platform !== 'win32')
      for (const name of files) assert.equal((await stat(join(folder, id, name))).mode & 0o777, 0o600, name)
    live.socket.close(1000)
    await until(async () => (await sessionFolders(folder)).length === 0, 'the session has ended')
  })

  it('hold at most the audio without a stored result', async (test) => {
    const folder = await temporaryFolder(test)
    const one = await speaker(test, await startKeeping(folder), {maxKept})
    await say(one, 0, 14)
    const [id = ''] = await sessionFolders(folder)
    const audioBytes = async () => {
      const names = (await readdir(join(folder, id))).filter((name) => name.endsWith('.pcm'))
      const found = names.map((name) => stat(join(folder, id, name)).catch(() => ({size: 0})))
      return (await Promise.all(found)).reduce((sum, {size}) => sum + size, 0)
    }
    // The client waits until its audio is stored, but not for the results.
    await until(async () => (await audioBytes()) < 32_000 * 14, 'finished audio is deleted')
  })

  it('are deleted when they expire, also those of an earlier process', async (test) => {
    const folder = join(await temporaryFolder(test), 'sessions')
    await mkdir(join(folder, 'speech-1'), {recursive: true})
    await writeFile(join(folder, 'speech-1', 'finals.ndjson'), 'canary')
    const sessions = await Sessions.start(service, {folder, ttlMs: 1})
    await until(() => !existsSync(join(folder, 'speech-1')), 'the session has expired')
    await sessions.close()
    assert.ok(!existsSync(folder))
  })

  it('are not used if they are incomplete', async (test) => {
    const folder = join(await temporaryFolder(test), 'sessions')
    await mkdir(join(folder, 'speech-1'), {recursive: true})
    await writeFile(join(folder, 'speech-1', 'session.json'), '{"id":')
    const client = await startKeeping(folder)
    const live = client.live('?session=speech-1')
    assert.equal((await live.closed).code, 1008)
    assert.equal(live.ofType('error')[0]?.error, 'speech_session_not_found')
    assert.deepEqual(await sessionFolders(folder), [])
  })

  it('belong to one process', async (test) => {
    const folder = await temporaryFolder(test)
    const first = await Sessions.start(service, {folder, ttlMs: 1000})
    let taken = 0
    await writeFile(join(folder, 'lock'), await readFile(join(folder, 'lock')))
    const second = await Sessions.start(service, {folder, ttlMs: 1000}, () => taken++)
    assert.equal(taken, 1)
    await second.close()
    await first.close()
  })
})
