import {
  argmax,
  type BeamHypothesis,
  BeamSearch,
  createSampler,
  defaultSampling,
  logSumExp,
  meanLogprob,
  type Sampler,
} from '../../sampling/index.js'
import type {DecoderRun} from './network.js'
import type {TokenRule} from './token-rules.js'

/** One decoding of a window: its tokens, timestamps among them, without prompt and end. */
export interface Hypothesis {
  tokens: readonly number[]
  /** Log-probability of each token, after the rules. */
  logprobs: readonly number[]
  /** Log-probability per token, the end counted, after the rules. */
  avgLogprob: number
}

export interface DecodeLimits {
  end: number
  rules: readonly TokenRule[]
  maxTokens: number
  signal: AbortSignal | undefined
}

/**
 * Follows the most likely token, or one draw per row, until every row has ended.
 * @param run has read the prompt; its rows are the draws
 * @param logits of the prompt's last position, `[vocabulary]`
 * @returns the draws, best first
 */
export async function drawHypotheses(
  run: DecoderRun,
  logits: Float32Array,
  choose: readonly Sampler[],
  {end, rules, maxTokens, signal}: DecodeLimits,
): Promise<Hypothesis[]> {
  const rows: Row[] = choose.map((pick) => ({pick, tokens: [], logprobs: [], logprob: 0}))
  let open = rows
  let next: Float32Array[] = rows.map(() => logits.slice())
  run.select(rows.map(() => 0))
  for (;;) {
    await letMessagesIn(signal)
    for (const [i, row] of open.entries()) chooseToken(next[i] as Float32Array, row, rules, end)
    const kept = [...open.keys()].filter((i) => goesOn(open[i] as Row, end, maxTokens))
    if (kept.length === 0) break
    run.select(kept)
    open = kept.map((i) => open[i] as Row)
    next = split(await run.step(open.map(({tokens}) => tokens.at(-1) as number)), kept.length)
  }
  return rows.map((row) => asHypothesis(withoutEnd(row, end))).sort((a, b) => b.avgLogprob - a.avgLogprob)
}

interface Row {
  pick: Sampler
  /** The end token included, where it was chosen. */
  tokens: number[]
  logprobs: number[]
  logprob: number
}

function chooseToken(logits: Float32Array, row: Row, rules: readonly TokenRule[], end: number): void {
  for (const rule of rules) rule(logits, row.tokens)
  const picked = row.pick(logits, row.tokens)
  // The rules can leave nothing to say.
  const token = picked < 0 ? end : picked
  const logprob = picked < 0 ? 0 : logits[token]! - logSumExp(logits)
  row.tokens.push(token)
  row.logprobs.push(logprob)
  row.logprob += logprob
}

const goesOn = ({tokens}: Row, end: number, maxTokens: number): boolean =>
  tokens.at(-1) !== end && tokens.length < maxTokens

function withoutEnd({tokens, logprobs, logprob}: Row, end: number): Omit<Row, 'pick'> {
  const length = tokens.at(-1) === end ? tokens.length - 1 : tokens.length
  return {tokens: tokens.slice(0, length), logprobs: logprobs.slice(0, length), logprob}
}

const asHypothesis = ({tokens, logprobs, logprob}: BeamHypothesis): Hypothesis => ({
  tokens,
  logprobs,
  avgLogprob: meanLogprob({tokens, logprob}),
})

/** One draw per row at a temperature; at 0 the most likely token, which needs one row. */
export const samplers = (temperature: number, bestOf: number, seed: number): Sampler[] =>
  temperature === 0
    ? [argmax]
    : Array.from({length: bestOf}, (_, row) =>
        createSampler({...defaultSampling, temperature, topK: 0, topP: 1, seed: (seed + row) >>> 0}),
      )

/** Follows the `width` most likely hypotheses; the best comes first. */
export async function searchHypotheses(
  run: DecoderRun,
  logits: Float32Array,
  width: number,
  {end, rules, maxTokens, signal}: DecodeLimits,
): Promise<Hypothesis[]> {
  const search = new BeamSearch(width, end)
  let next: Float32Array[] = [logits.slice()]
  for (let length = 0; ; length++) {
    await letMessagesIn(signal)
    for (const [row, decoded] of search.rows.entries())
      for (const rule of rules) rule(next[row] as Float32Array, decoded)
    const {tokens, sources} = search.advance(next)
    if (search.done || length + 1 >= maxTokens) return search.hypotheses().map(asHypothesis)
    run.select(sources)
    next = split(await run.step(tokens), tokens.length)
  }
}

/** The rows of `[rows, vocabulary]`, over the same memory. */
function split(logits: Float32Array, rows: number): Float32Array[] {
  const size = logits.length / rows
  return Array.from({length: rows}, (_, row) => logits.subarray(row * size, (row + 1) * size))
}

/** Lets a cancellation in before the next run blocks the thread. */
async function letMessagesIn(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return
  await new Promise((resolve) => setImmediate(resolve))
  signal.throwIfAborted()
}
