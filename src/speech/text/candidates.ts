import {countHits} from './bias-phrases.js'
import {writeSpokenCode} from './spoken-code.js'

/** Returns the refined and the raw text, and both with spoken symbols written as symbols, without empty texts. */
export function candidatesOf(refined: string, raw: string): string[] {
  const code = writeSpokenCode(refined)
  return distinct([refined, raw, ...(code === refined.trim() ? [] : [code, writeSpokenCode(raw)])])
}

/** The texts without spaces around them, without empty ones and without duplicates. */
export const distinct = (texts: readonly string[]): string[] => [
  ...new Set(texts.map((text) => text.trim()).filter(Boolean)),
]

/** Sorts texts by the number of phrases that they contain; ties keep their order. */
export function sortByHits(texts: readonly string[], phrases: readonly string[]): string[] {
  const hits = new Map(texts.map((text) => [text, countHits(text, phrases)]))
  return [...texts].sort((a, b) => (hits.get(b) ?? 0) - (hits.get(a) ?? 0))
}
