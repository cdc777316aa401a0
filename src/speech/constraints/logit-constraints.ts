import {highest, type TokenLogits} from '../../sampling/index.js'
import type {CompiledConstraints} from './compile.js'
import type {BiasState} from './phrase-bias.js'
import type {GrammarState} from './phrase-grammar.js'
import {acousticBound, mismatch} from './preferred-reading.js'

/** Progress of one hypothesis. */
export interface ConstraintState {
  readonly bias: BiasState | undefined
  /** Log-probability that the current phrase has lost against the most likely tokens. */
  readonly lost: number
  readonly grammar: GrammarState | undefined
  /** Number of consecutive steps whose most likely token does not match any phrase. */
  readonly stuck: number
  /** True if all texts are allowed from here on. */
  readonly escaped: boolean
}

/** One step of a hypothesis whose logits are constrained. */
export interface ConstrainedStep {
  /** The state at this step, for a hypothesis that ends here. */
  readonly state: ConstraintState
  /** True if no token is allowed. */
  readonly isEmpty: boolean
  /** Score of all next tokens, in addition to their logits. */
  readonly offset: number
  /** Logit of an allowed token before the constraints. */
  logitOf(token: number): number
  /** State behind a token. */
  after(token: number): ConstraintState
}

/** Applies constraints to a decoder that selects one token at a time. */
export interface LogitConstraints {
  readonly start: ConstraintState
  /**
   * Changes logits in place: bonuses, forbidden tokens, and tokens outside of the phrases.
   * @param most the highest logit
   */
  apply(logits: TokenLogits, max: number, state: ConstraintState): ConstrainedStep
  /** The text tokens whose logits `apply` needs, however unlikely they are. */
  wanted(state: ConstraintState): readonly number[]
  /** Returns how many tokens of a hypothesis are kept: those before its last phrase, if that is incomplete. */
  completeLength(tokens: readonly number[], state: ConstraintState): number
}

/**
 * @param end the token that ends the text
 * @param firstTimestamp this token and the following ones are not text; they are always allowed
 */
export function logitConstraints(
  {forbidden, bias, grammar, stuckSteps}: CompiledConstraints,
  {end, firstTimestamp}: {end: number; firstTimestamp: number},
): LogitConstraints {
  const isText = (token: number) => token !== end && token < firstTimestamp
  return {
    start: {bias: bias?.start, lost: 0, grammar: grammar?.start, stuck: 0, escaped: false},
    apply(logits, max, before) {
      const best = forbid(logits, max)
      const originals = raise(logits, before, best)
      const {state, isEmpty} = restrict(logits, before, best)
      const logitOf = (token: number) => originals.get(token) ?? logits.values[token]!
      return {
        state,
        isEmpty,
        offset: -(state.bias?.pending ?? 0),
        logitOf,
        after: (token) => (isText(token) ? advance(state, token, best - logitOf(token)) : state),
      }
    },
    wanted: ({bias: phrases, grammar: reached, escaped}) => [
      ...(phrases?.raised.keys() ?? []),
      ...((escaped ? undefined : reached?.allowed) ?? []),
    ],
    completeLength: (tokens, {grammar: reached, escaped}) =>
      grammar === undefined || escaped || reached?.accepts
        ? tokens.length
        : grammar.completeLength(tokens, (token) => !isText(token)),
  }

  /** Returns the highest logit of the other tokens. */
  function forbid(logits: TokenLogits, max: number): number {
    const {values} = logits
    let isMax = false
    for (const token of forbidden) {
      isMax ||= values[token] === max
      values[token] = -Infinity
    }
    return isMax ? logits.highest() : max
  }

  /**
   * Adds the bonuses, but none to a phrase that is less likely than `acousticBound` allows. Returns the logits of all
   * tokens with a bonus before.
   */
  function raise({values}: TokenLogits, state: ConstraintState, best: number): Map<number, number> {
    const originals = new Map<number, number>()
    for (const {token, bonus, starts} of state.bias?.raised.values() ?? []) {
      const logit = values[token]!
      const lost = (starts ? 0 : state.lost) + best - logit
      if (!(lost <= acousticBound)) continue
      originals.set(token, logit)
      values[token] = logit + bonus
    }
    return originals
  }

  /** Allows only tokens of phrases, unless the hypothesis is stuck. */
  function restrict(logits: TokenLogits, state: ConstraintState, best: number) {
    if (state.grammar === undefined || state.escaped) return {state, isEmpty: best === -Infinity}
    const {allowed, accepts} = state.grammar
    const {values} = logits
    const kept = allowed.map((token) => values[token]!)
    const ending = accepts ? values[end]! : -Infinity
    const max = Math.max(ending, highest(values.subarray(firstTimestamp)), ...kept)
    const stuck = best - max > mismatch ? state.stuck + 1 : 0
    if (stuck >= stuckSteps) return {state: {...state, stuck, escaped: true}, isEmpty: best === -Infinity}
    logits.excludeText(firstTimestamp)
    for (const [i, token] of allowed.entries()) values[token] = kept[i]!
    values[end] = ending
    return {state: {...state, stuck}, isEmpty: max === -Infinity}
  }

  function advance(state: ConstraintState, token: number, lost: number): ConstraintState {
    const raised = state.bias?.raised.get(token)
    return {
      ...state,
      bias: state.bias && bias?.advance(state.bias, token).state,
      lost: raised === undefined ? 0 : (raised.starts ? 0 : state.lost) + lost,
      grammar: state.escaped ? undefined : state.grammar && grammar?.advance(state.grammar, token),
    }
  }
}
