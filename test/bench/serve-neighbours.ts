import {setTimeout as sleep} from 'node:timers/promises'
import {guideRun} from '../support/guide.js'
import {type RunningServer, startServer} from '../support/server.js'
import {median, round} from './measure.js'

const honest = 25
const others = 25
/** Replies of each honest client, and tokens of each. */
const replies = 3
const tokens = 60

interface Measured {
  /** Of every gap between two tokens of an honest client, ms. */
  gaps: number[]
  interrupted: number
  refused: number
}

type Body = Record<string, unknown>

const post = (server: RunningServer, path: string, body: Body, signal?: AbortSignal) =>
  fetch(server.baseUrl + path, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : {signal}),
  })

/** Reads a stream token by token. */
async function honestReply(server: RunningServer, seed: number, measured: Measured): Promise<void> {
  const body = {prompt: 'Once upon a time', raw: true, options: {num_predict: tokens, temperature: 1, seed}}
  const response = await post(server, '/api/generate', body)
  let last: number | undefined
  let text = ''
  for await (const chunk of response.body ?? []) {
    const now = performance.now()
    if (last !== undefined) measured.gaps.push(now - last)
    last = now
    text += Buffer.from(chunk as Uint8Array).toString('utf8')
  }
  if (!/"done":true/.test(text)) measured.interrupted++
}

/** What another client does, again and again. */
type Client = (server: RunningServer, stop: AbortSignal, measured: Measured) => Promise<void>

const ignore = () => undefined
const turns = (count: number, length: number) =>
  Array.from({length: count}, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: 'a word '.repeat(length / 7),
  }))

const refusable = async (response: Response, measured: Measured) => {
  if (response.status >= 400) measured.refused++
  await response.arrayBuffer()
}

const hostile: readonly Client[] = [
  // A history that is many times too long.
  async (server, stop, measured) =>
    refusable(
      await post(server, '/api/chat', {messages: turns(4001, 368), stream: false, options: {num_predict: 4}}, stop),
      measured,
    ),
  // A prompt of 7 MB.
  async (server, stop, measured) =>
    refusable(
      await post(server, '/v1/completions', {prompt: 'a b c d '.repeat(900_000), max_tokens: 4}, stop),
      measured,
    ),
  // A client that leaves.
  async (server) => {
    const gone = AbortSignal.timeout(50)
    const response = await post(server, '/api/chat', {messages: turns(801, 368), options: {num_predict: 200}}, gone)
    await response.arrayBuffer()
  },
  // The model is to be unloaded.
  async (server, stop) => {
    await (await post(server, '/api/generate', {prompt: '', keep_alive: 0}, stop)).arrayBuffer()
    await sleep(200)
  },
  // A stream that nobody reads.
  async (server, stop) => {
    await post(server, '/api/generate', {prompt: 'Once', raw: true, options: {num_predict: 400}}, stop)
    await sleep(1000)
  },
]

/** As many requests with as many tokens as the server computes for those. */
const ordinary: readonly Client[] = [
  async (server, stop, measured) =>
    refusable(
      await post(server, '/api/chat', {messages: turns(9, 368), stream: false, options: {num_predict: 4}}, stop),
      measured,
    ),
  async (server, stop, measured) =>
    refusable(await post(server, '/v1/completions', {prompt: 'a b c d', max_tokens: 4}, stop), measured),
  async (server, stop, measured) =>
    refusable(
      await post(server, '/api/chat', {messages: turns(9, 368), stream: false, options: {num_predict: 4}}, stop),
      measured,
    ),
  async (server, stop) => {
    await (
      await post(server, '/api/generate', {prompt: 'x', stream: false, options: {num_predict: 1}}, stop)
    ).arrayBuffer()
    await sleep(200)
  },
  async (server, stop, measured) => {
    await refusable(
      await post(
        server,
        '/api/generate',
        {prompt: 'Once', raw: true, stream: false, options: {num_predict: 400}},
        stop,
      ),
      measured,
    )
    await sleep(1000)
  },
]

async function measure(server: RunningServer, clients: readonly Client[]): Promise<Measured> {
  const measured: Measured = {gaps: [], interrupted: 0, refused: 0}
  const stop = new AbortController()
  const busy = Array.from({length: others}, async (_, i) => {
    const client = clients[i % clients.length] as Client
    while (!stop.signal.aborted) await client(server, stop.signal, measured).catch(ignore)
  })
  await Promise.all(
    Array.from({length: honest}, async (_, i) => {
      for (let n = 0; n < replies; n++) await honestReply(server, i * replies + n, measured)
    }),
  )
  stop.abort()
  await Promise.all(busy)
  return measured
}

/**
 * How long honest clients wait between two tokens while others send what harms, to how long they wait while as many
 * others send ordinary requests.
 */
export async function serveNeighbours() {
  const server = await startServer(['--model', guideRun, '--parallel', '8'])
  try {
    await measure(server, ordinary.slice(1, 2))
    const [plain, harmed] = [await measure(server, ordinary), await measure(server, hostile)]
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
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
