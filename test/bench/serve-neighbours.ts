import {once, setMaxListeners} from 'node:events'
import {setTimeout as sleep} from 'node:timers/promises'
import {isMainThread, parentPort, Worker, workerData} from 'node:worker_threads'
import {type Dispatcher, request as send} from 'undici'
import {median, round} from '../../src/bench/measure.js'
import {guideRun} from '../support/guide.js'
import {startServer} from '../support/server.js'

const honest = 25
const others = 25
/** Replies per honest client, and tokens per reply. */
const replies = 3
const tokens = 60

/** An action that another client repeats. */
type Client = (baseUrl: string, stop: AbortSignal) => Promise<Dispatcher.ResponseData | undefined>

/** Serialises a request once, because work of the clients on the same machine slows down the server. */
function request(
  path: string,
  body: unknown,
): (baseUrl: string, signal: AbortSignal) => Promise<Dispatcher.ResponseData> {
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = {'content-type': 'application/json'}
  return (baseUrl, signal) => send(baseUrl + path, {method: 'POST', headers, body: bytes, signal})
}

const turns = (count: number, length: number) =>
  Array.from({length: count}, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: 'a word '.repeat(length / 7),
  }))

const pause = async (response: Promise<Dispatcher.ResponseData>, ms: number) => {
  await (await response).body.dump()
  await sleep(ms)
  return undefined
}

/** Hostile clients, each with an ordinary counterpart that requests the same number of tokens. */
function clientsOf(kind: 'hostile' | 'ordinary'): Client[] {
  const history = request('/api/chat', {messages: turns(4001, 368), stream: false, options: {num_predict: 4}})
  const short = request('/api/chat', {messages: turns(9, 368), stream: false, options: {num_predict: 4}})
  const huge = request('/v1/completions', {prompt: 'a b c d '.repeat(900_000), max_tokens: 4})
  const small = request('/v1/completions', {prompt: 'a b c d', max_tokens: 4})
  const left = request('/api/chat', {messages: turns(801, 368), options: {num_predict: 200}})
  const stayed = request('/api/chat', {messages: turns(9, 368), stream: false, options: {num_predict: 4}})
  const unload = request('/api/generate', {prompt: '', keep_alive: 0})
  const load = request('/api/generate', {prompt: ''})
  const unread = request('/api/generate', {prompt: 'Once', raw: true, options: {num_predict: 400}})
  if (kind === 'ordinary')
    return [
      short,
      small,
      stayed,
      (url, stop) => pause(load(url, stop), 200),
      (url, stop) => pause(unread(url, stop), 0),
    ]
  return [
    history,
    huge,
    (url) => left(url, AbortSignal.timeout(50)),
    (url, stop) => pause(unload(url, stop), 200),
    async (url, stop) => {
      const response = await unread(url, stop)
      await sleep(5000, undefined, {signal: stop})
      response.body.on('error', () => undefined).destroy()
      return undefined
    },
  ]
}

/** Runs the other clients in a separate thread until they are stopped. */
async function disturb({baseUrl, kind}: {baseUrl: string; kind: 'hostile' | 'ordinary'}): Promise<void> {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  parentPort?.once('message', () => stop.abort())
  const only = process.env.ONLY === undefined ? undefined : Number(process.env.ONLY)
  const clients = clientsOf(kind).filter((_, i) => only === undefined || i === only)
  let refused = 0
  parentPort?.postMessage('ready')
  await Promise.all(
    Array.from({length: others}, async (_, i) => {
      const client = clients[i % clients.length] as Client
      while (!stop.signal.aborted)
        try {
          const response = await client(baseUrl, stop.signal)
          if (response !== undefined && response.statusCode >= 400) refused++
          await response?.body.dump()
        } catch {
          await sleep(1)
        }
    }),
  )
  parentPort?.postMessage(refused)
}

if (!isMainThread && workerData?.kind !== undefined) await disturb(workerData)

interface Measured {
  /** Times between two tokens of an honest client, ms. */
  gaps: number[]
  interrupted: number
  refused: number
}

/** Reads a stream token by token. */
async function honestReply(baseUrl: string, seed: number, measured: Measured): Promise<void> {
  const body = {prompt: 'Once upon a time', raw: true, options: {num_predict: tokens, temperature: 1, seed}}
  const response = await request('/api/generate', body)(baseUrl, new AbortController().signal)
  let last: number | undefined
  let text = ''
  for await (const chunk of response.body) {
    const now = performance.now()
    if (last !== undefined) measured.gaps.push(now - last)
    last = now
    text += Buffer.from(chunk as Uint8Array).toString('utf8')
  }
  if (!/"done":true/.test(text)) measured.interrupted++
}

async function measure(baseUrl: string, kind: 'hostile' | 'ordinary'): Promise<Measured> {
  const measured: Measured = {gaps: [], interrupted: 0, refused: 0}
  const worker = new Worker(new URL(import.meta.url), {workerData: {baseUrl, kind}})
  await once(worker, 'message')
  await Promise.all(
    Array.from({length: honest}, async (_, i) => {
      for (let n = 0; n < replies; n++) await honestReply(baseUrl, i * replies + n, measured)
    }),
  )
  worker.postMessage('stop')
  const [refused] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  return {...measured, refused}
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Ratio of the time between two tokens of honest clients next to hostile clients to that next to ordinary clients that
 * request as many tokens.
 */
export async function serveNeighbours() {
  const server = await startServer(['--model', guideRun, '--parallel', '8'], {isAlone: true})
  try {
    await measure(server.baseUrl, 'ordinary')
    const plain = await measure(server.baseUrl, 'ordinary')
    const harmed = await measure(server.baseUrl, 'hostile')
    return {
      honest_clients: honest,
      other_clients: others,
      ms_per_token_beside_ordinary: round(mean(plain.gaps), 2),
      ms_per_token_beside_hostile: round(mean(harmed.gaps), 2),
      ratio: round(mean(harmed.gaps) / mean(plain.gaps), 2),
      median_ratio: round(median(harmed.gaps) / median(plain.gaps), 2),
      longest_gap_ms: [round(Math.max(...plain.gaps)), round(Math.max(...harmed.gaps))],
      interrupted: plain.interrupted + harmed.interrupted,
      refused: harmed.refused,
    }
  } finally {
    await server.stop()
  }
}
