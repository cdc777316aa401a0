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
}

export interface PrefixBeamOptions {
  width: number
  blank: number
  scorer?: PrefixScorer | undefined
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

  constructor(options: PrefixBeamOptions, beam?: readonly Prefix[]) {
    const {blank, scorer} = options
    const empty: Text = {token: blank, before: undefined, longer: new Map()}
    this.#options = options
    this.#beam = beam ?? [{text: empty, blank: 0, token: -Infinity, bonus: 0, state: scorer?.start}]
  }

  /** Continues with the next emissions. */
  add({positions, vocabulary, logprobs}: Emissions): void {
    const {width, blank, scorer} = this.#options
    for (let t = 0; t < positions; t++) {
      const row = logprobs.subarray(t * vocabulary, (t + 1) * vocabulary)
      const next = new Map<Text, Prefix>()
      for (const prefix of this.#beam) extend(prefix, row, next, blank, scorer)
      const ranked = Array.from(next.values(), (prefix) => ({prefix, rank: rank(prefix)}))
      this.#beam = ranked
        .sort((a, b) => b.rank - a.rank)
        .slice(0, width)
        .map(({prefix}) => prefix)
    }
  }

  /** A search that continues from here on its own. */
  fork(): PrefixBeam {
    return new PrefixBeam(this.#options, this.#beam)
  }

  /** The hypotheses so far, best first by probability and scorer. */
  hypotheses(): CtcHypothesis[] {
    const {scorer} = this.#options
    const closed = this.#beam.map((prefix) => ({
      tokens: tokensOf(prefix.text),
      logprob: logAdd(prefix.blank, prefix.token),
      rank: rank(prefix) + (scorer?.close(prefix.state) ?? 0),
    }))
    return closed.sort((a, b) => b.rank - a.rank).map(({tokens, logprob}) => ({tokens, logprob}))
  }
}

/** The hypotheses of complete emissions, best first. */
export function prefixBeamSearch(emissions: Emissions, options: PrefixBeamOptions): CtcHypothesis[] {
  const beam = new PrefixBeam(options)
  beam.add(emissions)
  return beam.hypotheses()
}

function extend(
  prefix: Prefix,
  row: Float32Array,
  next: Map<Text, Prefix>,
  blank: number,
  scorer: PrefixScorer | undefined,
): void {
  const {text} = prefix
  const last = text.before === undefined ? undefined : text.token
  const total = logAdd(prefix.blank, prefix.token)
  const same = entryOf(next, text, () => prefix)
  same.blank = logAdd(same.blank, total + row[blank]!)
  if (last !== undefined) same.token = logAdd(same.token, prefix.token + row[last]!)
  for (let token = 0; token < row.length; token++) {
    const logprob = row[token]!
    if (token === blank || logprob < leastLogprob) continue
    // A repeated token counts as a new one only after a blank.
    const reach = token === last ? prefix.blank : total
    if (reach === -Infinity) continue
    const longer = entryOf(next, longerText(text, token), () => {
      const {state, score} = scorer?.advance(prefix.state, token) ?? {state: undefined, score: 0}
      return {bonus: prefix.bonus + score, state}
    })
    longer.token = logAdd(longer.token, reach + logprob)
  }
}

function longerText(text: Text, token: number): Text {
  const longer = text.longer.get(token) ?? {token, before: text, longer: new Map()}
  text.longer.set(token, longer)
  return longer
}

function entryOf(next: Map<Text, Prefix>, text: Text, worth: () => Pick<Prefix, 'bonus' | 'state'>): Prefix {
  const found = next.get(text)
  if (found !== undefined) return found
  const {bonus, state} = worth()
  const entry = {text, blank: -Infinity, token: -Infinity, bonus, state}
  next.set(text, entry)
  return entry
}

function tokensOf(text: Text): number[] {
  const tokens: number[] = []
  for (let at = text; at.before !== undefined; at = at.before) tokens.push(at.token)
  return tokens.reverse()
}

const rank = ({blank, token, bonus}: Prefix): number => logAdd(blank, token) + bonus

/** log(exp(a) + exp(b)). */
function logAdd(a: number, b: number): number {
  const [high, low] = a > b ? [a, b] : [b, a]
  return low === -Infinity ? high : high + Math.log1p(Math.exp(low - high))
}
