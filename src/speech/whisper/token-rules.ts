import type {WhisperVocabulary} from './vocabulary.js'

/**
 * Makes tokens impossible, by setting their logits `[vocabulary]` to -infinity in place.
 * @param decoded the tokens of this hypothesis so far, without the prompt
 */
export type TokenRule = (logits: Float32Array, decoded: readonly number[]) => void

/** The rules of one decoding, in order. */
export function tokenRules(vocabulary: WhisperVocabulary, {timestamps}: {timestamps: boolean}): TokenRule[] {
  const rules = [atBegin(vocabulary.suppressedAtBegin), always(vocabulary.suppressed)]
  const {firstTimestamp, lastTimestamp, noTimestamps} = vocabulary
  if (firstTimestamp === undefined || lastTimestamp === undefined) return rules
  const all = {...vocabulary, firstTimestamp, lastTimestamp}
  if (!timestamps) return [...rules, (logits) => void logits.fill(-Infinity, firstTimestamp, lastTimestamp + 1)]
  return [...rules, always(noTimestamps === undefined ? [] : [noTimestamps]), timestampGrammar(all), timestampMass(all)]
}

const always =
  (tokens: readonly number[]): TokenRule =>
  (logits) => {
    for (const token of tokens) logits[token] = -Infinity
  }

const atBegin =
  (tokens: readonly number[]): TokenRule =>
  (logits, decoded) => {
    if (decoded.length === 0) for (const token of tokens) logits[token] = -Infinity
  }

type Timed = WhisperVocabulary & {firstTimestamp: number; lastTimestamp: number}

/** Text begins within the first second of a window. */
const latestBegin = 50

/**
 * Timestamps come in pairs around text and never go back: after the first of a pair of ends comes the other or the end
 * of the text, after both of them text; a segment has a length. Source: the timestamp rules of openai/whisper.
 */
function timestampGrammar({firstTimestamp, lastTimestamp, endOfText}: Timed): TokenRule {
  const isTimestamp = (token: number | undefined) => token !== undefined && token >= firstTimestamp
  return (logits, decoded) => {
    if (decoded.length === 0) {
      logits.fill(-Infinity, 0, firstTimestamp)
      logits.fill(-Infinity, firstTimestamp + latestBegin + 1, lastTimestamp + 1)
      return
    }
    const last = isTimestamp(decoded.at(-1))
    const both = last && (decoded.length < 2 || isTimestamp(decoded.at(-2)))
    if (both) logits.fill(-Infinity, firstTimestamp, lastTimestamp + 1)
    else if (last) logits.fill(-Infinity, 0, endOfText)
    const latest = decoded.findLast(isTimestamp)
    if (latest !== undefined) logits.fill(-Infinity, firstTimestamp, last && !both ? latest : latest + 1)
  }
}

/** Where a timestamp is likelier, all of them together, than any single other token, it must be a timestamp. */
function timestampMass({firstTimestamp, lastTimestamp}: Timed): TokenRule {
  return (logits) => {
    let text = -Infinity
    for (let i = 0; i < firstTimestamp; i++) if (logits[i]! > text) text = logits[i]!
    let highest = -Infinity
    for (let i = firstTimestamp; i <= lastTimestamp; i++) if (logits[i]! > highest) highest = logits[i]!
    if (highest === -Infinity) return
    let total = 0
    for (let i = firstTimestamp; i <= lastTimestamp; i++) total += Math.exp(logits[i]! - highest)
    if (highest + Math.log(total) > text) logits.fill(-Infinity, 0, firstTimestamp)
  }
}
