import {createSampler, type SamplingOptions} from '../decode/index.js'
import {SvcError} from '../errors/index.js'
import {OutputText, type Tokenizer} from '../text/index.js'
import type {Decoder} from './decoder.js'

export interface GenerateRequest {
  /** Undefined starts from the beginning-of-text token. */
  prompt: string | undefined
  /** Sends the prompt as it is, without the chat template. */
  raw: boolean
  maxTokens: number
  sampling: SamplingOptions
  /** Generation ends before any of these; they are not part of the text. */
  stop: readonly string[]
}

/** What came of a request. Durations in ms. */
export interface GenerateSummary {
  finishReason: 'stop' | 'length'
  promptTokens: number
  completionTokens: number
  /** From the request to the first token. */
  prefillMs: number
  /** From the first token to the last. */
  decodeMs: number
}

export type GenerateEvent = {type: 'text'; text: string} | ({type: 'done'} & GenerateSummary)

/** Tokens of a prompt that run at once: what a cancelled request may have to wait for. */
const prefillChunk = 256

export interface GenerationModel {
  decoder: Decoder
  tokenizer: Tokenizer
  /** Tokens that end a text. */
  endTokens: ReadonlySet<number>
}

/**
 * Generates text after a tokenized prompt, piece by piece; the last event sums up. Aborting the signal ends it within
 * one step.
 * @throws prompt_too_long; the reason of the signal
 */
export async function* generate(
  {decoder, tokenizer, endTokens}: GenerationModel,
  prompt: readonly number[],
  {maxTokens, sampling, stop}: Omit<GenerateRequest, 'prompt' | 'raw'>,
  signal?: AbortSignal,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const {contextLength} = decoder
  if (prompt.length >= contextLength)
    throw new SvcError('prompt_too_long', {tokens: prompt.length, context: contextLength})
  const sample = createSampler(sampling)
  const output = new OutputText(tokenizer, prompt, stop)
  const limit = Math.min(maxTokens, contextLength - prompt.length)
  const started = performance.now()

  const cache = decoder.newCache()
  let logits = await prefill(decoder, cache, prompt, signal)
  const firstToken = performance.now()
  let completionTokens = 0
  let ended = false
  while (completionTokens < limit) {
    signal?.throwIfAborted()
    const token = sample(logits)
    ended = endTokens.has(token)
    if (ended) break
    completionTokens++
    const text = output.push(token)
    if (text !== '') yield {type: 'text', text}
    if (output.stopped) break
    if (completionTokens < limit) logits = await decoder.forward(cache, [token])
  }
  const rest = output.end()
  if (rest !== '') yield {type: 'text', text: rest}
  yield {
    type: 'done',
    finishReason: ended || output.stopped ? 'stop' : 'length',
    promptTokens: prompt.length,
    completionTokens,
    prefillMs: firstToken - started,
    decodeMs: performance.now() - firstToken,
  }
}

async function prefill(
  decoder: Decoder,
  cache: ReturnType<Decoder['newCache']>,
  prompt: readonly number[],
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  let logits: Float32Array = new Float32Array()
  for (let at = 0; at < prompt.length; at += prefillChunk) {
    signal?.throwIfAborted()
    logits = await decoder.forward(cache, prompt.slice(at, at + prefillChunk))
  }
  return logits
}
