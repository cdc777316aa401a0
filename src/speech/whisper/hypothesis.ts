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

/** One decoding of a window: its tokens including timestamps, without the prompt and the end token. */
export interface Hypothesis {
  tokens: readonly number[]
  /** Log-probability of each token, after the token rules. */
  logprobs: readonly number[]
  /** Log-probability per token, including the end token, after the token rules. */
  avgLogprob: number
}

export interface DecodeLimits {
  end: number
  rules: readonly TokenRule[]
  maxTokens: number
  signal: AbortSignal | undefined
}

/**
 * Decodes greedily or with one sample per row until every row has ended.
 * @param run a run after the prefill of the prompt
 * @param logits of the prompt's last position, `[vocabulary]`
 * @returns the hypotheses, best first
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
    await processMessages(signal)
    for (const [i, row] of open.entries()) chooseToken(next[i] as Float32Array, row, rules, end)
    const unfinished = [...open.keys()].filter((i) => isUnfinished(open[i] as Row, end, maxTokens))
    if (unfinished.length === 0) break
    run.select(unfinished)
    open = unfinished.map((i) => open[i] as Row)
    next = split(await run.step(open.map(({tokens}) => tokens.at(-1) as number)), unfinished.length)
  }
  return rows.map((row) => asHypothesis(withoutEnd(row, end))).sort((a, b) => b.avgLogprob - a.avgLogprob)
}

interface Row {
  pick: Sampler
  /** Including the end token. */
  tokens: number[]
  logprobs: number[]
  logprob: number
}

function chooseToken(logits: Float32Array, row: Row, rules: readonly TokenRule[], end: number): void {
  for (const rule of rules) rule(logits, row.tokens)
  const picked = row.pick(logits, row.tokens)
  // The rules may exclude every token.
  const token = picked < 0 ? end : picked
  const logprob = picked < 0 ? 0 : logits[token]! - logSumExp(logits)
  row.tokens.push(token)
  row.logprobs.push(logprob)
  row.logprob += logprob
}

const isUnfinished = ({tokens}: Row, end: number, maxTokens: number): boolean =>
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

/** One sampler per row; at temperature 0, a single greedy row. */
export const samplers = (temperature: number, bestOf: number, seed: number): Sampler[] =>
  temperature === 0
    ? [argmax]
    : Array.from({length: bestOf}, (_, row) =>
        createSampler({...defaultSampling, temperature, topK: 0, topP: 1, seed: (seed + row) >>> 0}),
      )

/** Beam search over the `width` most likely hypotheses; returns them best first. */
export async function searchHypotheses(
  run: DecoderRun,
  logits: Float32Array,
  width: number,
  {end, rules, maxTokens, signal}: DecodeLimits,
): Promise<Hypothesis[]> {
  const search = new BeamSearch(width, end)
  let next: Float32Array[] = [logits.slice()]
  for (let length = 0; ; length++) {
    await processMessages(signal)
    for (const [row, decoded] of search.rows.entries())
      for (const rule of rules) rule(next[row] as Float32Array, decoded)
    const {tokens, sources} = search.advance(next)
    if (search.done || length + 1 >= maxTokens) return search.hypotheses().map(asHypothesis)
    run.select(sources)
    next = split(await run.step(tokens), tokens.length)
  }
}

/** The rows of `[rows, vocabulary]` as views. */
function split(logits: Float32Array, rows: number): Float32Array[] {
  const size = logits.length / rows
  return Array.from({length: rows}, (_, row) => logits.subarray(row * size, (row + 1) * size))
}

/** Processes pending messages, such as a cancellation, before the next run blocks the thread. */
async function processMessages(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return
  await new Promise((resolve) => setImmediate(resolve))
  signal.throwIfAborted()
}
