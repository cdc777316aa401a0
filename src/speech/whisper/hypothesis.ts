import {
  argmax,
  type BeamHypothesis,
  type BeamScores,
  BeamSearch,
  createSampler,
  defaultSampling,
  highest,
  logSumExpAbove,
  meanLogprob,
  type Sampler,
} from '../../sampling/index.js'
import type {ConstraintState, LogitConstraints} from '../constraints/logit-constraints.js'
import type {DecoderRun} from './network.js'
import type {TokenRule} from './token-rules.js'

/** One decoding of a window: its tokens including timestamps, without the prompt and the end token. */
export interface Hypothesis {
  tokens: readonly number[]
  /** Log-probability of each token, after the token rules and before the constraints. */
  logprobs: readonly number[]
  /** Log-probability per token, including the end token, after the token rules and before the constraints. */
  avgLogprob: number
  /** True if the constrained phrases did not match, so that all texts were allowed. */
  escaped: boolean
}

export interface DecodeLimits {
  end: number
  rules: readonly TokenRule[]
  constraints: LogitConstraints | undefined
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
  limits: DecodeLimits,
): Promise<Hypothesis[]> {
  const {end, constraints, maxTokens, signal} = limits
  const rows: Row[] = choose.map((pick) => ({pick, tokens: [], logprobs: [], logprob: 0, state: constraints?.start}))
  let open = rows
  let next: Float32Array[] = rows.map(() => logits.slice())
  run.select(rows.map(() => 0))
  for (;;) {
    await processMessages(signal)
    for (const [i, row] of open.entries()) chooseToken(next[i] as Float32Array, row, limits)
    const unfinished = [...open.keys()].filter((i) => isUnfinished(open[i] as Row, end, maxTokens))
    if (unfinished.length === 0) break
    run.select(unfinished)
    open = unfinished.map((i) => open[i] as Row)
    next = split(await run.step(open.map(({tokens}) => tokens.at(-1) as number)), unfinished.length)
  }
  return rows.map((row) => asHypothesis(withoutEnd(row, end), constraints)).sort((a, b) => b.avgLogprob - a.avgLogprob)
}

interface Row extends DecodedTokens {
  pick: Sampler
  /** Including the end token. */
  tokens: number[]
  logprobs: number[]
}

/** Tokens with their log-probabilities, and the progress of the constraints. */
interface DecodedTokens extends BeamHypothesis {
  state: ConstraintState | undefined
}

function chooseToken(logits: Float32Array, row: Row, limits: DecodeLimits): void {
  const scores = scoresOf(logits, row, limits)
  const picked = row.pick(logits, row.tokens)
  // The rules may exclude every token.
  const token = picked < 0 ? limits.end : picked
  const logprob = picked < 0 ? 0 : scores.logprobOf(token)
  row.tokens.push(token)
  row.logprobs.push(logprob)
  row.logprob += logprob
  row.state = scores.after(token)
}

/** Applies the rules and then the constraints to logits, in place. If nothing remains, the text ends. */
function scoresOf(
  logits: Float32Array,
  {tokens, state}: Pick<DecodedTokens, 'tokens' | 'state'>,
  {end, rules, constraints}: DecodeLimits,
): BeamScores<ConstraintState | undefined> {
  for (const rule of rules) rule(logits, tokens)
  const most = highest(logits)
  const total = logSumExpAbove(logits, most)
  const step = state && constraints?.apply(logits, most, state)
  if (step === undefined)
    return {logits, total, offset: 0, logprobOf: (token) => logits[token]! - total, state, after: () => undefined}
  const {isEmpty} = step
  if (isEmpty) logits[end] = total
  return {
    logits,
    total,
    offset: step.offset,
    // The logit of a token may have a bonus. Rounding must not make a probability exceed 1.
    logprobOf: (token) => Math.min(0, (isEmpty ? total : step.logitOf(token)) - total),
    state: step.state,
    after: step.after,
  }
}

const isUnfinished = ({tokens}: Row, end: number, maxTokens: number): boolean =>
  tokens.at(-1) !== end && tokens.length < maxTokens

function withoutEnd({tokens, logprobs, logprob, state}: Row, end: number): DecodedTokens {
  const length = tokens.at(-1) === end ? tokens.length - 1 : tokens.length
  return {tokens: tokens.slice(0, length), logprobs: logprobs.slice(0, length), logprob, state}
}

/** Removes an incomplete phrase from the end. */
function asHypothesis(decoded: DecodedTokens, constraints: LogitConstraints | undefined): Hypothesis {
  const {tokens, logprobs, logprob, state} = decoded
  const length = state === undefined ? tokens.length : (constraints?.completeLength(tokens, state) ?? tokens.length)
  const removed = logprobs.slice(length).reduce((sum, one) => sum + one, 0)
  const kept = tokens.slice(0, length)
  return {
    tokens: kept,
    logprobs: logprobs.slice(0, length),
    avgLogprob: meanLogprob({tokens: kept, logprob: logprob - removed}),
    escaped: state?.escaped ?? false,
  }
}

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
  limits: DecodeLimits,
): Promise<Hypothesis[]> {
  const {end, constraints, maxTokens, signal} = limits
  const search = new BeamSearch(width, end, constraints?.start)
  let next: Float32Array[] = [logits.slice()]
  for (let length = 0; ; length++) {
    await processMessages(signal)
    const {tokens, sources} = search.advance(
      search.rows.map((row, i) => scoresOf(next[i] as Float32Array, row, limits)),
    )
    if (search.done || length + 1 >= maxTokens) return search.hypotheses().map((one) => asHypothesis(one, constraints))
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
