import {
  type BeamHypothesis,
  type BeamScores,
  BeamSearch,
  beamCandidates,
  createSampler,
  defaultSampling,
  type HypothesisRank,
  meanLogprob,
  type TokenLogits,
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
  /** Ranks hypotheses. */
  rank: HypothesisRank
  signal: AbortSignal | undefined
}

/**
 * Decodes greedily or with one sample per row until every row has ended.
 * @param run a run after the prefill of the prompt
 * @param logits of the prompt's last position
 * @returns the hypotheses, best first
 */
export async function drawHypotheses(
  run: DecoderRun,
  logits: TokenLogits,
  choose: readonly TokenChoice[],
  limits: DecodeLimits,
): Promise<Hypothesis[]> {
  run.select(choose.map(() => 0))
  const copies = choose.map(() => logits.copy())
  const rank = ({tokens, avgLogprob}: Hypothesis) => limits.rank({tokens, logprob: avgLogprob * (tokens.length + 1)})
  return (await drawRows(run, copies, choose, limits)).sort((a, b) => rank(b) - rank(a))
}

/**
 * Decodes each row of a run greedily.
 * @param logits of the prompt's last position, for each row
 * @returns one hypothesis per row
 */
export const followRows = (run: DecoderRun, logits: readonly TokenLogits[], limits: DecodeLimits) =>
  drawRows(
    run,
    logits,
    logits.map(() => greedy),
    limits,
  )

async function drawRows(
  run: DecoderRun,
  logits: readonly TokenLogits[],
  choose: readonly TokenChoice[],
  limits: DecodeLimits,
): Promise<Hypothesis[]> {
  const {end, constraints, maxTokens, signal} = limits
  const rows: Row[] = choose.map((choice) => ({
    choice,
    tokens: [],
    logprobs: [],
    logprob: 0,
    state: constraints?.start,
  }))
  let open = rows
  let next = logits
  for (;;) {
    await processMessages(signal)
    for (const [i, row] of open.entries()) chooseToken(next[i] as TokenLogits, row, limits)
    const unfinished = [...open.keys()].filter((i) => isUnfinished(open[i] as Row, end, maxTokens))
    if (unfinished.length === 0) break
    run.select(unfinished)
    open = unfinished.map((i) => open[i] as Row)
    next = await run.step(
      open.map(({tokens}) => tokens.at(-1) as number),
      open.map(({state}) => wanted(state, limits)),
    )
  }
  return rows.map((row) => asHypothesis(withoutEnd(row, end), constraints))
}

/** How a row selects its next token. */
export interface TokenChoice {
  /** Number of the most likely tokens that must be exact for the choice. */
  exact: number
  /** Returns -1 if no token is allowed. */
  pick(logits: TokenLogits, tokens: readonly number[]): number
}

interface Row extends DecodedTokens {
  choice: TokenChoice
  /** Including the end token. */
  tokens: number[]
  logprobs: number[]
}

/** Tokens with their log-probabilities, and the progress of the constraints. */
interface DecodedTokens extends BeamHypothesis {
  state: ConstraintState | undefined
}

function chooseToken(given: TokenLogits, row: Row, limits: DecodeLimits): void {
  const {choice} = row
  const scores = exactScores(given, row, limits, choice.exact)
  const picked = choice.pick(scores.logits, row.tokens)
  // The rules may exclude every token.
  const token = picked < 0 ? limits.end : picked
  const logprob = picked < 0 ? 0 : scores.logprobOf(token)
  row.tokens.push(token)
  row.logprobs.push(logprob)
  row.logprob += logprob
  row.state = scores.after(token)
}

const wanted = (state: ConstraintState | undefined, {constraints}: DecodeLimits): readonly number[] =>
  state === undefined ? [] : (constraints?.wanted(state) ?? [])

type Scores = BeamScores<ConstraintState | undefined>

/** Scores with certainty about the `exact` most likely tokens: all logits are computed if the known ones do not prove them. */
function exactScores(
  logits: TokenLogits,
  row: Pick<DecodedTokens, 'tokens' | 'state'>,
  limits: DecodeLimits,
  exact: number,
): Scores {
  const {scores, isCertain} = scoresOf(logits, row, limits, exact)
  return isCertain ? scores : scoresOf(logits.whole(), row, limits, 0).scores
}

/** Applies the rules and then the constraints to logits, in place. If nothing remains, the text ends. */
function scoresOf(
  logits: TokenLogits,
  {tokens, state}: Pick<DecodedTokens, 'tokens' | 'state'>,
  {end, rules, constraints}: DecodeLimits,
  exact: number,
): {scores: Scores; isCertain: boolean} {
  for (const rule of rules) rule(logits, tokens)
  const max = logits.highest()
  const total = logits.logSumExpAbove(max)
  // The constraints compare tokens with the most likely one.
  const isMostCertain = exact === 0 || state === undefined || logits.isCertain(1)
  const step = state && constraints?.apply(logits, max, state)
  const isCertain = isMostCertain && (exact === 0 || logits.isCertain(exact))
  const {values} = logits
  if (step === undefined) {
    const logprobOf = (token: number) => Math.min(0, values[token]! - total)
    return {scores: {logits, total, offset: 0, logprobOf, state, after: () => undefined}, isCertain}
  }
  const {isEmpty} = step
  if (isEmpty) values[end] = total
  const scores = {
    logits,
    total,
    offset: step.offset,
    // The logit of a token may have a bonus. Rounding must not make a probability exceed 1.
    logprobOf: (token: number) => Math.min(0, (isEmpty ? total : step.logitOf(token)) - total),
    state: step.state,
    after: step.after,
  }
  return {scores, isCertain}
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

/** The most likely token. */
const greedy: TokenChoice = {exact: 1, pick: (logits) => logits.mostLikely(1)[0] ?? -1}

/** One choice per row; at temperature 0, a single greedy row. A sample is drawn from all tokens. */
export const choices = (temperature: number, bestOf: number, seed: number): TokenChoice[] =>
  temperature === 0 ? [greedy] : Array.from({length: bestOf}, (_, row) => sampled(temperature, (seed + row) >>> 0))

function sampled(temperature: number, seed: number): TokenChoice {
  const sample = createSampler({...defaultSampling, temperature, topK: 0, topP: 1, seed})
  return {exact: 0, pick: ({values}, tokens) => sample(values, tokens)}
}

/** Beam search over the `width` most likely hypotheses; returns them best first. */
export async function searchHypotheses(
  run: DecoderRun,
  logits: TokenLogits,
  {width, patience}: {width: number; patience: number},
  limits: DecodeLimits,
): Promise<Hypothesis[]> {
  const {end, constraints, maxTokens, signal} = limits
  const search = new BeamSearch(width, end, constraints?.start, patience, limits.rank)
  let next = [logits]
  for (let length = 0; ; length++) {
    await processMessages(signal)
    const {tokens, sources} = search.advance(
      search.rows.map((row, i) => exactScores(next[i] as TokenLogits, row, limits, beamCandidates(width))),
    )
    if (search.done || length + 1 >= maxTokens) return search.hypotheses().map((one) => asHypothesis(one, constraints))
    run.select(sources)
    next = await run.step(
      tokens,
      search.rows.map(({state}) => wanted(state, limits)),
    )
  }
}

/** Processes pending messages, such as a cancellation, before the next run blocks the thread. */
async function processMessages(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return
  await new Promise((resolve) => setImmediate(resolve))
  signal.throwIfAborted()
}
