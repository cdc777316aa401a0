import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {measureLlm, streamWaits} from '../../src/bench/llm.js'
import {median, round} from '../../src/bench/measure.js'
import {startEngine} from '../../src/llm/index.js'
import {startServer} from '../support/server.js'
import {qwen05b, writeRandomModel} from './random-model.js'

/**
 * A Qwen2 of 0.5B parameters with random weights: load time, memory, and speed of prompts and streams. Also the delay
 * of a stream during the prefill of another prompt, and the response time of the server during that time.
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
  const speeds = await measureLlm(engine, new AbortController().signal, {prompt: 256, reply: 12, rounds: 1})
  const decode = Object.fromEntries(speeds.decode.map(({streams, speed}) => [streams, round(speed ?? 0)]))
  const waits = await streamWaits(engine, 200)
  await engine.close()
  return {
    load_ms: round(engine.loadMs),
    rss_mb: round(speeds.memoryBytes / 2 ** 20),
    prefill_tokens_per_second: round(speeds.prefill),
    decode_tokens_per_second: decode,
    decode_8_to_1: round((decode[8] as number) / (decode[1] as number), 2),
    stream_wait_while_prompt_is_read_ms: {
      median: round(median(waits.gaps)),
      max: round(Math.max(...waits.gaps)),
      tokens: waits.gaps.length,
    },
  }
}

/** Response times of `/api/version` during the prefill of a long prompt. */
async function measureServer(folder: string) {
  const server = await startServer(['--model', folder, '--num-ctx', '4096', '--threads', '1'], {isAlone: true})
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
