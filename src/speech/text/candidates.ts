import {countHits} from './bias-phrases.js'
import {writeSpokenCode} from './spoken-code.js'

/** Candidate texts of a transcript, best first. */
export interface Ranking {
  text: string
  /** All candidates; undefined if there is only one. */
  nBest: string[] | undefined
}

/** Returns the refined and the raw text, and both with spoken symbols written as symbols, without empty texts. */
export function candidatesOf(refined: string, raw: string): string[] {
  const code = writeSpokenCode(refined)
  const texts = [refined, raw, ...(code === refined.trim() ? [] : [code, writeSpokenCode(raw)])]
  return [...new Set(texts.map((text) => text.trim()).filter(Boolean))]
}

/**
 * Ranks candidate texts by the number of phrases that they contain; ties keep their order.
 * @param alternatives other texts of the recogniser, always listed after the candidates, because ranking must not
 *   override recognition
 * @param rank returns the index of the best candidate if it can decide, for example one that parses as code
 */
export function rankCandidates(
  candidates: readonly string[],
  phrases: readonly string[],
  alternatives: readonly string[] = [],
  rank: (candidates: readonly string[]) => number | undefined = () => undefined,
): Ranking {
  const hits = new Map(candidates.map((text) => [text, countHits(text, phrases)]))
  const byHits = (a: string, b: string) => (hits.get(b) ?? 0) - (hits.get(a) ?? 0)
  const head = rank(candidates)
  const first = head === undefined ? undefined : candidates[head]
  const rest = candidates.filter((text) => text !== first).sort(byHits)
  const heard = alternatives.map((text) => text.trim()).filter(Boolean)
  const nBest = [...new Set([...(first === undefined ? [] : [first]), ...rest, ...heard])]
  return {text: nBest[0] ?? '', nBest: nBest.length > 1 ? nBest : undefined}
}
