import type {CompiledConstraints} from '../constraints/compile.js'
import {stuckDifference} from '../constraints/logit-constraints.js'
import type {BiasState} from '../constraints/phrase-bias.js'
import type {GrammarState} from '../constraints/phrase-grammar.js'
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
const leastLogprob = -12

/**
 * Prefix beam search over CTC emissions: hypotheses are texts, and the paths that write the same text are added up.
 * Source: Hannun et al. 2014, arXiv 1408.2873.
 */
export class PrefixBeam {
  readonly #options: PrefixBeamOptions
  #beam: readonly Prefix[]
  /** Most likely token of the last position. */
  #best: number
  /** Consecutive new tokens that no hypothesis may write. */
  #stuck = 0
  #escaped = false

  constructor(options: PrefixBeamOptions) {
    const {blank, scorer, constraints} = options
    const empty: Text = {token: blank, before: undefined, longer: new Map()}
    const [grammar, bias] = [constraints?.grammar?.start, constraints?.bias?.start]
    this.#options = options
    this.#best = blank
    this.#beam = [
      {text: empty, blank: 0, token: -Infinity, bonus: 0, state: scorer?.start, grammar, bias, raised: 0, rank: 0},
    ]
  }

  /** Continues with the next emissions. */
  add({positions, vocabulary, logprobs}: Emissions): void {
    const {width} = this.#options
    for (let t = 0; t < positions; t++) {
      const row = logprobs.subarray(t * vocabulary, (t + 1) * vocabulary)
      this.#checkGrammar(row)
      const next = new Map<Text, Prefix>()
      for (const prefix of this.#beam) extend(prefix, row, next, this.#options)
      this.#beam = selected([...next.values()], width)
    }
  }

  /** A search that continues from here on its own. */
  fork(): PrefixBeam {
    const forked = new PrefixBeam(this.#options)
    forked.#beam = this.#beam
    forked.#best = this.#best
    forked.#stuck = this.#stuck
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

  /** Allows all texts if the model wrote several new tokens that are impossible in all hypotheses. */
  #checkGrammar(row: Float32Array): void {
    const {blank, constraints} = this.#options
    if (constraints?.grammar === undefined || this.#escaped) return
    const before = this.#best
    this.#best = mostLikely(row, constraints.forbidden)
    // A blank and a repetition are no new token.
    if (this.#best === blank || this.#best === before) return
    const most = this.#beam.reduce((highest, prefix) => Math.max(highest, mostAllowed(prefix, row)), -Infinity)
    this.#stuck = row[this.#best]! - most > stuckDifference ? this.#stuck + 1 : 0
    if (this.#stuck < constraints.stuckSteps) return
    this.#escaped = true
    this.#beam = this.#beam.map((prefix) => ({...prefix, grammar: undefined}))
  }
}

function mostLikely(row: Float32Array, forbidden: ReadonlySet<number>): number {
  let best = -1
  for (let token = 0; token < row.length; token++)
    if (!(row[token]! <= (row[best] ?? -Infinity)) && !forbidden.has(token)) best = token
  return best
}

/** Log-probability of the most likely token that may follow or repeat the last one. */
function mostAllowed({text, grammar}: Prefix, row: Float32Array): number {
  let most = text.before === undefined ? -Infinity : row[text.token]!
  for (const token of grammar?.allowed ?? []) most = Math.max(most, row[token]!)
  return most
}

/**
 * The texts of complete emissions. If those that consist of constrained phrases are too unlikely, for instance because the
 * audio ends within a phrase, all texts are allowed.
 */
export function prefixBeamSearch(emissions: Emissions, options: PrefixBeamOptions): FoundTexts {
  const beam = new PrefixBeam(options)
  beam.add(emissions)
  const hypotheses = beam.hypotheses({complete: true})
  if (options.constraints?.grammar === undefined) return {hypotheses, escaped: false}
  const [best] = beam.hypotheses({complete: false})
  const lost = (best?.logprob ?? 0) - (hypotheses[0]?.logprob ?? -Infinity)
  if (lost <= stuckDifference) return {hypotheses, escaped: beam.escaped}
  const free = prefixBeamSearch(emissions, {...options, constraints: {...options.constraints, grammar: undefined}})
  return {...free, escaped: true}
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
    if (token === blank || logprob < leastLogprob || constraints?.forbidden.has(token)) continue
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
  const [high, low] = a > b ? [a, b] : [b, a]
  return low === -Infinity ? high : high + Math.log1p(Math.exp(low - high))
}
