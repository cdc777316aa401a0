import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {median, round} from '../../src/bench/measure.js'
import {guideRun} from '../support/guide.js'
import {startServer} from '../support/server.js'

const keys = {few: 'the-key-of-the-few-clients', many: 'the-key-of-the-many-clients'}
const file = Object.entries(keys)
  .map(([name, key]) => `[keys.${name}]\nkey = "${key}"\n`)
  .join('')

const few = 2
const many = 64
/** Replies per client of the few, and tokens per reply of all. */
const replies = 8
const tokens = 40

/** Sends a request, and returns how long its reply took, ms. */
async function reply(baseUrl: string, key: string, seed: number, signal?: AbortSignal): Promise<number> {
  const started = performance.now()
  const options = {num_predict: tokens, temperature: 1, seed}
  const response = await fetch(`${baseUrl}/api/generate`, {
    method: 'POST',
    headers: {authorization: `Bearer ${key}`},
    body: JSON.stringify({prompt: 'Once upon a time', raw: true, stream: false, options}),
    ...(signal === undefined ? {} : {signal}),
  })
  await response.text()
  return performance.now() - started
}

/** Median duration of the replies to a few clients, ms, while others flood the server. */
async function measure(baseUrl: string, key: string, others: number): Promise<number> {
  const stop = new AbortController()
  const flood = Array.from({length: others}, async (_, i) => {
    while (!stop.signal.aborted) await reply(baseUrl, keys.many, i, stop.signal).catch(() => undefined)
  })
  const durations = await Promise.all(
    Array.from({length: few}, async (_, i) => {
      const own: number[] = []
      for (let n = 0; n < replies; n++) own.push(await reply(baseUrl, key, i * replies + n))
      return own
    }),
  )
  stop.abort()
  await Promise.all(flood)
  return median(durations.flat())
}

/** How long replies to a few clients take next to many others: with the key of these, and with a key of their own. */
export async function serveNeighboursKeys() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  await writeFile(join(folder, 'keys.toml'), file, {mode: 0o600})
  const server = await startServer(['--model', guideRun, '--parallel', '8', '--api-keys', join(folder, 'keys.toml')], {
    isAlone: true,
  })
  try {
    await measure(server.baseUrl, keys.few, 0)
    const alone = await measure(server.baseUrl, keys.few, 0)
    const sameKey = await measure(server.baseUrl, keys.many, many)
    const ownKey = await measure(server.baseUrl, keys.few, many)
    return {
      few_clients: few,
      many_clients: many,
      reply_ms_alone: round(alone, 1),
      reply_ms_same_key: round(sameKey, 1),
      reply_ms_own_key: round(ownKey, 1),
      same_key_ratio: round(sameKey / alone, 1),
      own_key_ratio: round(ownKey / alone, 1),
    }
  } finally {
    await server.stop()
    await rm(folder, {recursive: true, force: true})
  }
}
