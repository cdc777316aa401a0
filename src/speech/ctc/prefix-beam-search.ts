import type {CtcHypothesis, Emissions} from './emissions.js'
import type {HotwordState, HotwordTrie} from './hotword-trie.js'

interface Prefix {
  tokens: readonly number[]
  /** Log-probability of the paths that end in a blank. */
  blank: number
  /** Log-probability of those that end in the last token. */
  token: number
  /** What hotwords add to its rank. */
  bonus: number
  state: HotwordState | undefined
}

export interface PrefixBeamOptions {
  width: number
  blank: number
  hotwords?: HotwordTrie | undefined
}

/** Tokens less likely than this at a position begin no hypothesis, as a log-probability. */
const leastLogprob = -12

/**
 * Prefix beam search over CTC emissions: hypotheses are texts, and the paths that write the same text are added up.
 * Source: Hannun et al. 2014, arXiv 1408.2873.
 * @returns hypotheses, best first by probability and hotwords
 */
export function prefixBeamSearch(
  {positions, vocabulary, logprobs}: Emissions,
  {width, blank, hotwords}: PrefixBeamOptions,
): CtcHypothesis[] {
  let beam: Prefix[] = [{tokens: [], blank: 0, token: -Infinity, bonus: 0, state: hotwords?.start}]
  for (let t = 0; t < positions; t++) {
    const row = logprobs.subarray(t * vocabulary, (t + 1) * vocabulary)
    const next = new Map<string, Prefix>()
    for (const prefix of beam) extend(prefix, row, next, blank, hotwords)
    beam = [...next.values()].sort((a, b) => rank(b) - rank(a)).slice(0, width)
  }
  const closed = beam.map((prefix) => ({
    tokens: prefix.tokens,
    logprob: logAdd(prefix.blank, prefix.token),
    rank: rank(prefix) + (prefix.state === undefined ? 0 : (hotwords?.close(prefix.state) ?? 0)),
  }))
  return closed.sort((a, b) => b.rank - a.rank).map(({tokens, logprob}) => ({tokens, logprob}))
}

function extend(
  prefix: Prefix,
  row: Float32Array,
  next: Map<string, Prefix>,
  blank: number,
  hotwords: HotwordTrie | undefined,
): void {
  const {tokens} = prefix
  const last = tokens.at(-1)
  const total = logAdd(prefix.blank, prefix.token)
  const same = entryOf(next, tokens, prefix)
  same.blank = logAdd(same.blank, total + row[blank]!)
  if (last !== undefined) same.token = logAdd(same.token, prefix.token + row[last]!)
  for (let token = 0; token < row.length; token++) {
    const logprob = row[token]!
    if (token === blank || logprob < leastLogprob) continue
    // A token that comes again is a new one only after a blank.
    const reach = token === last ? prefix.blank : total
    if (reach === -Infinity) continue
    const {state, score} = advance(hotwords, prefix, token)
    const longer = entryOf(next, [...tokens, token], {bonus: prefix.bonus + score, state})
    longer.token = logAdd(longer.token, reach + logprob)
  }
}

const advance = (hotwords: HotwordTrie | undefined, {state}: Prefix, token: number) =>
  hotwords === undefined || state === undefined ? {state: undefined, score: 0} : hotwords.advance(state, token)

function entryOf(
  next: Map<string, Prefix>,
  tokens: readonly number[],
  {bonus, state}: Pick<Prefix, 'bonus' | 'state'>,
) {
  const key = tokens.join()
  const entry = next.get(key) ?? {tokens, blank: -Infinity, token: -Infinity, bonus, state}
  next.set(key, entry)
  return entry
}

const rank = ({blank, token, bonus}: Prefix): number => logAdd(blank, token) + bonus

/** log(exp(a) + exp(b)). */
function logAdd(a: number, b: number): number {
  const [high, low] = a > b ? [a, b] : [b, a]
  return low === -Infinity ? high : high + Math.log1p(Math.exp(low - high))
}
