import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {median, round} from '../../src/bench/measure.js'
import {type Engine, type GenerateRequest, type GenerateSummary, startEngine} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {startServer} from '../support/server.js'
import {qwen05b, writeRandomModel} from './random-model.js'

const request = (length: number, maxTokens: number): GenerateRequest => ({
  prompt: {kind: 'raw', text: 'a'.repeat(length)},
  maxTokens,
  stop: [],
  sampling: {...defaultSampling, temperature: 0},
})

/**
 * A Qwen2 of 0.5B parameters with random weights: load time, memory, speed of prompts and streams, the delay of a
 * stream during the prefill of another prompt, and the response time of the server during that time.
 */
export async function llm() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    await writeRandomModel(folder, qwen05b, 'F32')
    return {
      model: 'random Qwen2 of 0.5B, f32',
      threads: 1,
      ...(await measureEngine(folder)),
      ...(await measureServer(folder)),
    }
  } finally {
    await rm(folder, {recursive: true})
  }
}

async function measureEngine(folder: string) {
  const engine = await startEngine(folder, {threads: 1, numCtx: 4096})
  await run(engine, request(8, 2))
  const rss = process.memoryUsage().rss
  const prefill = await run(engine, request(255, 1))
  const speeds: Record<string, number> = {}
  for (const batch of [1, 4, 8]) speeds[batch] = round(await decodeSpeed(engine, batch))
  const waits = await streamWaits(engine)
  await engine.close()
  return {
    load_ms: round(engine.loadMs),
    rss_mb: round(rss / 2 ** 20),
    prefill_tokens_per_second: round((prefill.promptTokens / prefill.prefillMs) * 1000),
    decode_tokens_per_second: speeds,
    decode_8_to_1: round((speeds[8] as number) / (speeds[1] as number), 2),
    stream_wait_while_prompt_is_read_ms: waits,
  }
}

async function run(engine: Engine, asked: GenerateRequest): Promise<GenerateSummary> {
  for await (const event of engine.generate(asked)) if (event.type === 'done') return event
  throw new Error('The engine ended without a summary.')
}

/** Total tokens per second of concurrent streams. */
async function decodeSpeed(engine: Engine, batch: number): Promise<number> {
  const tokens = 12
  const summaries = await Promise.all(Array.from({length: batch}, () => run(engine, request(4, tokens))))
  return (batch * (tokens - 1) * 1000) / median(summaries.map(({decodeMs}) => decodeMs))
}

/** Gaps between the tokens of a stream during the prefill of another prompt of 200 tokens. */
async function streamWaits(engine: Engine) {
  const gaps: number[] = []
  let reading = true
  let last = 0
  const abort = new AbortController()
  const stream = (async () => {
    for await (const _ of engine.generate({...request(4, 4000), topLogprobs: 0, stop: []}, abort.signal)) {
      const now = performance.now()
      if (last > 0 && reading) gaps.push(now - last)
      last = now
    }
  })().catch(() => {})
  while (last === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await run(engine, request(200, 1))
  reading = false
  abort.abort()
  await stream
  return {median: round(median(gaps)), max: round(Math.max(...gaps)), tokens: gaps.length}
}

/** Response times of `/api/version` during the prefill of a long prompt. */
async function measureServer(folder: string) {
  const server = await startServer(['--model', folder, '--num-ctx', '4096', '--threads', '1'])
  const body = JSON.stringify({prompt: 'a'.repeat(600), raw: true, stream: false, options: {num_predict: 1}})
  let reading = true
  const long = fetch(`${server.baseUrl}/api/generate`, {method: 'POST', body}).finally(() => {
    reading = false
  })
  const times: number[] = []
  while (reading) {
    const started = performance.now()
    await (await fetch(`${server.baseUrl}/api/version`)).text()
    times.push(performance.now() - started)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await long
  await server.stop()
  const sorted = times.sort((a, b) => a - b)
  const percentile = (p: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] as number)
  return {version_ms_while_prompt_is_read: {p50: percentile(0.5), p99: percentile(0.99), answers: times.length}}
}
