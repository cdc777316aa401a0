import type {CompiledConstraints} from '../constraints/compile.js'
import type {BiasState} from '../constraints/phrase-bias.js'
import type {GrammarState} from '../constraints/phrase-grammar.js'
import {mismatch} from '../constraints/preferred-reading.js'
import type {CtcHypothesis, Emissions} from './emissions.js'
import type {PrefixScorer} from './prefix-scorer.js'

/** A text, as the last of its tokens and the text before; each text is one object. */
interface Text {
  token: number
  before: Text | undefined
  longer: Map<number, Text>
}

interface Prefix {
  text: Text
  /** Log-probability of the paths that end in a blank. */
  blank: number
  /** Log-probability of those that end in the last token. */
  token: number
  /** Score of the scorer, which is part of the rank. */
  bonus: number
  state: unknown
  /** What may follow; undefined without constrained phrases. */
  grammar: GrammarState | undefined
  /** Started phrases of the bias; undefined without bias. */
  bias: BiasState | undefined
  /** Bonus of the bias, which keeps the prefix in the beam and is no part of its rank. */
  raised: number
  /** Log-probability of all paths and the score, as of the last position. */
  rank: number
}

/** How well the constrained phrases match so far. */
interface Mismatches {
  /** Number of consecutive new tokens that match no phrase. */
  readonly steps: number
  /** Most likely token of the last position. */
  readonly best: number
  /** Log-probability of the most likely tokens. */
  readonly freeLogprob: number
  /** What the most likely text of phrases had lost against them at the last new token. */
  readonly lost: number
}

export interface PrefixBeamOptions {
  width: number
  blank: number
  scorer?: PrefixScorer | undefined
  constraints?: CompiledConstraints | undefined
}

/** Result of a search. */
export interface FoundTexts {
  /** Best first. */
  hypotheses: CtcHypothesis[]
  /** True if the constrained phrases did not match, so that all texts were allowed. */
  escaped: boolean
}

/** Tokens less likely than this at a position begin no hypothesis, as a log-probability. */
const minLogprob = -12

/**
 * Prefix beam search over CTC emissions: hypotheses are texts, and the paths that write the same text are added up.
 * Source: Hannun et al. 2014, arXiv 1408.2873.
 */
export class PrefixBeam {
  readonly #options: PrefixBeamOptions
  #beam: readonly Prefix[]
  /** Undefined if all texts are allowed. */
  #mismatches: Mismatches | undefined
  #escaped = false

  constructor(options: PrefixBeamOptions) {
    const {blank, scorer, constraints} = options
    const empty: Text = {token: blank, before: undefined, longer: new Map()}
    const [grammar, bias] = [constraints?.grammar?.start, constraints?.bias?.start]
    this.#options = options
    this.#mismatches = grammar === undefined ? undefined : {steps: 0, best: blank, freeLogprob: 0, lost: 0}
    this.#beam = [
      {text: empty, blank: 0, token: -Infinity, bonus: 0, state: scorer?.start, grammar, bias, raised: 0, rank: 0},
    ]
  }

  /** Continues with the next emissions. */
  add({positions, vocabulary, logprobs}: Emissions): void {
    const {width} = this.#options
    for (let t = 0; t < positions; t++) {
      const row = logprobs.subarray(t * vocabulary, (t + 1) * vocabulary)
      const extended = () => {
        const next = new Map<Text, Prefix>()
        for (const prefix of this.#beam) extend(prefix, row, next, this.#options)
        return selected([...next.values()], width)
      }
      const next = extended()
      this.#beam = this.#escapes(row, next) ? extended() : next
    }
  }

  /** A search that continues from here on its own. */
  fork(): PrefixBeam {
    const forked = new PrefixBeam(this.#options)
    forked.#beam = this.#beam
    forked.#mismatches = this.#mismatches
    forked.#escaped = this.#escaped
    return forked
  }

  /** True if the constrained phrases did not match, so that all texts are allowed. */
  get escaped(): boolean {
    return this.#escaped
  }

  /**
   * The hypotheses so far, best first by probability and scorer.
   * @param complete returns only those that do not end within a constrained phrase
   */
  hypotheses({complete}: {complete: boolean}): CtcHypothesis[] {
    const {scorer} = this.#options
    const closed = this.#beam
      .filter(({grammar}) => !complete || this.#escaped || grammar?.accepts !== false)
      .map((prefix) => ({
        tokens: tokensOf(prefix.text),
        logprob: logAdd(prefix.blank, prefix.token),
        rank: prefix.rank + (scorer?.close(prefix.state) ?? 0),
      }))
    return closed.sort((a, b) => b.rank - a.rank).map(({tokens, logprob}) => ({tokens, logprob}))
  }

  /**
   * Allows all texts if several new tokens in a row match no phrase, and returns true then. A token does not match if
   * the most likely text of phrases loses more than `mismatch` against the most likely tokens, from one new token to the next.
   */
  #escapes(row: Float32Array, next: readonly Prefix[]): boolean {
    const {blank, constraints} = this.#options
    if (constraints === undefined || this.#mismatches === undefined) return false
    const {steps, best: before, ...past} = this.#mismatches
    const best = mostLikely(row, constraints.forbidden)
    const freeLogprob = past.freeLogprob + row[best]!
    // A blank and a repetition are no new token.
    if (best === blank || best === before) {
      this.#mismatches = {...past, steps, best, freeLogprob}
      return false
    }
    const lost =
      freeLogprob - next.reduce((highest, {blank: end, token}) => Math.max(highest, logAdd(end, token)), -Infinity)
    const mismatches = lost - past.lost > mismatch ? steps + 1 : 0
    this.#mismatches = {steps: mismatches, best, freeLogprob, lost}
    if (mismatches < constraints.stuckSteps) return false
    this.#mismatches = undefined
    this.#escaped = true
    this.#beam = this.#beam.map((prefix) => ({...prefix, grammar: undefined}))
    return true
  }
}

function mostLikely(row: Float32Array, forbidden: ReadonlySet<number>): number {
  let best = -1
  for (let token = 0; token < row.length; token++)
    if (!(row[token]! <= (row[best] ?? -Infinity)) && !forbidden.has(token)) best = token
  return best
}

/**
 * The texts of complete emissions. If the constrained phrases do not match, all of the text is free. Otherwise, an
 * incomplete phrase at the end is removed, unless a text without one is nearly as likely.
 */
export function prefixBeamSearch(emissions: Emissions, options: PrefixBeamOptions): FoundTexts {
  const beam = new PrefixBeam(options)
  beam.add(emissions)
  if (beam.escaped) {
    const {constraints} = options
    return {
      ...prefixBeamSearch(emissions, {...options, constraints: constraints && {...constraints, grammar: undefined}}),
      escaped: true,
    }
  }
  const complete = beam.hypotheses({complete: true})
  const {grammar} = options.constraints ?? {}
  const all = beam.hypotheses({complete: false})
  const [best] = all
  const isNear = best !== undefined && complete[0] !== undefined && best.logprob - complete[0].logprob <= mismatch
  if (grammar === undefined || isNear) return {hypotheses: complete, escaped: false}
  const cut = all.map(({tokens, logprob}) => ({
    tokens: tokens.slice(
      0,
      grammar.completeLength(tokens, () => false),
    ),
    logprob,
  }))
  const texts = new Set<string>()
  const hypotheses = cut.filter(({tokens}) => texts.size < texts.add(tokens.join()).size)
  return {hypotheses, escaped: false}
}

function extend(
  prefix: Prefix,
  row: Float32Array,
  next: Map<Text, Prefix>,
  {blank, scorer, constraints}: PrefixBeamOptions,
): void {
  const {text, grammar} = prefix
  const last = text.before === undefined ? undefined : text.token
  const total = logAdd(prefix.blank, prefix.token)
  const same = entryOf(next, text, () => prefix)
  same.blank = logAdd(same.blank, total + row[blank]!)
  if (last !== undefined) same.token = logAdd(same.token, prefix.token + row[last]!)
  const count = grammar?.allowed.length ?? row.length
  for (let i = 0; i < count; i++) {
    const token = grammar?.allowed[i] ?? i
    const logprob = row[token]!
    if (token === blank || logprob < minLogprob || constraints?.forbidden.has(token)) continue
    // A repeated token counts as a new one only after a blank.
    const reach = token === last ? prefix.blank : total
    if (reach === -Infinity) continue
    const longer = entryOf(next, longerText(text, token), () => {
      const {state, score} = scorer?.advance(prefix.state, token) ?? {state: undefined, score: 0}
      const behind = prefix.bias && constraints?.bias?.advance(prefix.bias, token)
      return {
        bonus: prefix.bonus + score,
        state,
        grammar: grammar && constraints?.grammar?.advance(grammar, token),
        bias: behind?.state,
        raised: prefix.raised + (behind?.score ?? 0),
      }
    })
    longer.token = logAdd(longer.token, reach + logprob)
  }
}

/** Share of a beam that is added for prefixes with a bonus. */
const raisedShare = 1 / 8

/** The best prefixes, and in addition the best of those that need their bonus to be among them. */
function selected(prefixes: Prefix[], width: number): Prefix[] {
  for (const prefix of prefixes) prefix.rank = logAdd(prefix.blank, prefix.token) + prefix.bonus
  prefixes.sort((a, b) => b.rank - a.rank)
  const raised = prefixes.slice(width).filter((prefix) => prefix.raised > 0)
  const best = prefixes.slice(0, width)
  if (raised.length === 0) return best
  raised.sort((a, b) => b.rank + b.raised - a.rank - a.raised)
  return [...best, ...raised.slice(0, Math.ceil(raisedShare * width))]
}

function longerText(text: Text, token: number): Text {
  const longer = text.longer.get(token) ?? {token, before: text, longer: new Map()}
  text.longer.set(token, longer)
  return longer
}

function entryOf(
  next: Map<Text, Prefix>,
  text: Text,
  worth: () => Omit<Prefix, 'text' | 'blank' | 'token' | 'rank'>,
): Prefix {
  const found = next.get(text)
  if (found !== undefined) return found
  const {bonus, state, grammar, bias, raised} = worth()
  const entry = {text, blank: -Infinity, token: -Infinity, bonus, state, grammar, bias, raised, rank: -Infinity}
  next.set(text, entry)
  return entry
}

function tokensOf(text: Text): number[] {
  const tokens: number[] = []
  for (let at = text; at.before !== undefined; at = at.before) tokens.push(at.token)
  return tokens.reverse()
}

/** log(exp(a) + exp(b)). */
function logAdd(a: number, b: number): number {
  const high = a > b ? a : b
  const low = a > b ? b : a
  return low === -Infinity ? high : high + Math.log1p(Math.exp(low - high))
}
