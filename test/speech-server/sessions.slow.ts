import assert from 'node:assert/strict'
import {before, describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import type {SpeechEventV1} from '../../src/contracts/index.js'
import {freePort} from '../../src/net/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {RemoteSession} from '../../src/speech/index.js'
import {campaignSeed} from '../support/campaign-seed.js'
import {startCutProxy} from '../support/cut-proxy.js'
import {startSvc} from '../support/svc.js'
import {talkOf} from '../support/talk.js'
import {temporaryFolder} from '../support/temporary.js'
import {results, speechSuite} from './support.js'

const {startSession} = speechSuite()
const rate = 16_000
/** Length of the stream, seconds; number of streams; and how many of them run at once. */
const seconds = 60
const runs = Number(process.env.SESSION_RUNS ?? 20)
const atOnce = 4
const firstSeed = campaignSeed(import.meta.url, ['SESSION_RUNS'])

type Final = Extract<SpeechEventV1, {type: 'final'}>
let talk: Float32Array
let uninterrupted: ReturnType<typeof results>
before(async () => {
  talk = await talkOf(seconds)
  uninterrupted = results(await finalsOf(talk))
})

/** The final results of a session without a connection. */
async function finalsOf(audio: Float32Array): Promise<Final[]> {
  const finals: Final[] = []
  const session = await startSession(finals)
  for (let at = 0; at < audio.length; at += rate) {
    session.push(audio.slice(at, at + rate))
    await session.settle()
  }
  await session.commit()
  await session.close()
  return finals
}

/** Streams the talk in real time while its connection is cut three times and its server is killed once. */
async function interrupted(test: TestContext, seed: number): Promise<void> {
  const folder = await temporaryFolder(test)
  const port = await freePort()
  const startServer = async () => {
    const args = ['speech', 'serve', '--port', String(port), '--threads', '1', '--json']
    const server = startSvc(args, {cwd: folder, env: {HOME: folder}})
    await new Promise((resolve) => server.stdout?.once('data', resolve))
    // A process is a promise, which would be waited for.
    return {server}
  }
  let running = await startServer()
  const proxy = await startCutProxy(port)
  const finals: Final[] = []
  const session = await RemoteSession.start({
    url: `http://127.0.0.1:${proxy.port}`,
  })
  const gaps: object[] = []
  const reading = (async () => {
    for await (const event of session)
      if (event.type === 'final') finals.push(event.event)
      else if (event.type === 'gap') gaps.push(event)
  })()
  const random = randomSource(seed)
  const [kill = 0, ...cuts] = Array.from({length: 4}, () => 1 + random() * (seconds - 2))
  const plan = [{at: kill, kills: true}, ...cuts.map((at) => ({at, kills: false}))].sort((a, b) => a.at - b.at)
  const started = performance.now()
  let killed: Promise<void> | undefined
  for (let at = 0; at < talk.length; at += rate / 10) {
    await sleep(Math.max(0, started + (1000 * at) / rate - performance.now()))
    session.push(talk.slice(at, at + rate / 10))
    while (plan[0] !== undefined && plan[0].at * rate <= at) {
      if (plan.shift()?.kills) {
        const {server} = running
        server.kill('SIGKILL')
        killed = (async () => {
          await server
          running = await startServer()
        })()
      } else proxy.cut()
    }
  }
  await killed
  await session.commit()
  await session.close()
  await reading
  await proxy.close()
  running.server.kill('SIGTERM')
  await running.server
  assert.deepEqual(gaps, [], `seed ${seed}`)
  assert.deepEqual(results(finals), uninterrupted, `seed ${seed}`)
}

describe('a real-time stream of a minute with three lost connections and a killed server', () => {
  it(`has the transcript of an uninterrupted one, for ${runs} seeds`, async (test) => {
    for (let first = 0; first < runs; first += atOnce) {
      const seeds = Array.from({length: Math.min(atOnce, runs - first)}, (_, i) => firstSeed + first + i)
      await Promise.all(seeds.map((seed) => interrupted(test, seed)))
    }
  })
})

describe('a session of two hours', () => {
  it('has the same results for the same phrases at its end, in constant memory', async () => {
    const finals: Final[] = []
    const session = await startSession(finals)
    const used: number[] = []
    for (let minute = 0; minute < 120; minute++) {
      for (let at = 0; at < talk.length; at += rate) {
        session.push(talk.slice(at, at + rate))
        await session.settle()
      }
      if (minute % 20 === 19) used.push(process.memoryUsage.rss())
    }
    await session.commit()
    await session.close()
    assert.equal(finals.at(-1)?.end_ms, 120 * 60_000)
    assert.equal(session.failures, 0)
    const said = (from: number) =>
      finals
        .filter(({start_ms: start}) => start >= from * 60_000 && start < (from + 1) * 60_000)
        .map(({text}) => text)
        .join(' ')
    assert.equal(said(110), said(10))
    assert.ok((used.at(-1) ?? 0) < 1.2 * (used[0] ?? 0), `memory grows: ${used.join(' ')}`)
  })
})
