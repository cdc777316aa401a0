import type {Engine, GenerateRequest, GenerateSummary} from '../llm/index.js'
import {defaultSampling} from '../sampling/index.js'
import {median, rounds} from './measure.js'

export interface LlmSpeeds {
  /** Resident memory of the process after the first prompt, bytes. */
  memoryBytes: number
  /** Length of the prompt that was read, at most the size that is asked for. */
  promptTokens: number
  /** Tokens of the prompt per second. */
  prefill: number
  /** Tokens per second of all streams together, by their number; null if the model ends its reply at once. */
  decode: {streams: number; speed: number | null}[]
}

export interface LlmSizes {
  prompt: number
  /** Tokens of each reply; at least 2. */
  reply: number
  rounds: number
}

const usualSizes: LlmSizes = {prompt: 512, reply: 32, rounds: 3}
const streamCounts = [1, 4, 8]

/** Measures how fast a model reads a prompt and generates text. @throws the abort reason of the signal */
export async function measureLlm(
  engine: Engine,
  signal: AbortSignal,
  {prompt, reply, rounds: count}: LlmSizes = usualSizes,
): Promise<LlmSpeeds> {
  const promptTokens = Math.min(prompt, engine.description.contextLength)
  // The first run allocates its buffers.
  await prefillSpeed(engine, promptTokens, signal)
  const memoryBytes = process.memoryUsage.rss()
  const prefill: number[] = []
  const decode = streamCounts.map((streams) => ({streams, speeds: [] as number[]}))
  for await (const _ of rounds(count, {warmUps: 0, signal})) {
    prefill.push(await prefillSpeed(engine, promptTokens, signal))
    for (const {streams, speeds} of decode) speeds.push(await decodeSpeed(engine, {streams, reply}, signal))
  }
  return {
    memoryBytes,
    promptTokens,
    prefill: median(prefill),
    decode: decode.map(({streams, speeds}) => ({
      streams,
      speed: speeds.every(Number.isFinite) ? median(speeds) : null,
    })),
  }
}

/** A prompt of arbitrary tokens that every vocabulary has. */
export const tokenPrompt = (length: number): GenerateRequest['prompt'] => ({
  kind: 'tokens',
  tokens: Array.from({length}, (_, i) => 10 + ((i * 7) % 80)),
})

const request = (prompt: GenerateRequest['prompt'], maxTokens: number | undefined): GenerateRequest => ({
  prompt,
  maxTokens,
  stop: [],
  sampling: {...defaultSampling, temperature: 0},
})

/** Tokens per second of a prompt. */
export async function prefillSpeed(engine: Engine, promptTokens: number, signal?: AbortSignal): Promise<number> {
  const {prefillMs} = await complete(engine, request(tokenPrompt(promptTokens), 0), signal)
  return (promptTokens * 1000) / prefillMs
}

/**
 * Tokens per second of concurrent streams; NaN if the reply has fewer than two tokens. The speed is that of the last
 * stream, which runs after all others have started; they are cancelled when it ends.
 */
export async function decodeSpeed(
  engine: Engine,
  {streams, reply, context = 16}: {streams: number; reply: number; context?: number},
  signal?: AbortSignal,
): Promise<number> {
  const prompt = tokenPrompt(context)
  const others: AsyncGenerator[] = []
  try {
    // One after the other, so that an engine with a prefix cache computes the prompt once.
    while (others.length < streams - 1) others.push(await startStream(engine, prompt, signal))
    const {completionTokens, decodeMs} = await complete(engine, request(prompt, reply), signal)
    return completionTokens < 2 ? Number.NaN : (streams * (completionTokens - 1) * 1000) / decodeMs
  } finally {
    await Promise.all(others.map((stream) => stream.return(undefined)))
  }
}

/** Starts a stream that runs until it is returned. Resolves with its first token, which `echo` announces. */
async function startStream(engine: Engine, prompt: GenerateRequest['prompt'], signal?: AbortSignal) {
  const stream = engine.generate({...request(prompt, undefined), echo: ''}, signal)
  await stream.next()
  return stream
}

/**
 * Duration of the steps of a single stream, its pauses during the prefill of another prompt, and the duration of that
 * prefill, ms. Each token of the stream must have a text of its own.
 */
export async function streamWaits(engine: Engine, promptTokens: number) {
  const stream = await startStream(engine, tokenPrompt(16))
  let last = performance.now()
  const gap = async () => {
    await stream.next()
    const [from, to] = [last, performance.now()]
    last = to
    return to - from
  }
  const steps: number[] = []
  while (steps.length < 16) steps.push(await gap())
  let isReading = true
  const prompt = complete(engine, request(tokenPrompt(promptTokens), 0)).finally(() => {
    isReading = false
  })
  const gaps: number[] = []
  while (isReading) gaps.push(await gap())
  await stream.return()
  return {steps, gaps, prefillMs: (await prompt).prefillMs}
}

/** The summary of a request that runs to its end. */
export async function complete(engine: Engine, asked: GenerateRequest, signal?: AbortSignal): Promise<GenerateSummary> {
  for await (const event of engine.generate(asked, signal)) if (event.type === 'done') return event
  throw new Error('The engine ended without a summary.')
}
