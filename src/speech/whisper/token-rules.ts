import {logSumExp, type TokenLogits} from '../../sampling/index.js'
import type {WhisperVocabulary} from './vocabulary.js'

/**
 * Excludes tokens by setting their logits to -infinity in place.
 * @param decoded the tokens of this hypothesis so far, without the prompt
 */
export type TokenRule = (logits: TokenLogits, decoded: readonly number[]) => void

/** The token rules of a decoding, in order. */
export function tokenRules(vocabulary: WhisperVocabulary, {timestamps}: {timestamps: boolean}): TokenRule[] {
  const rules = [atBegin(vocabulary.suppressedAtBegin), always(vocabulary.suppressed)]
  const {firstTimestamp, lastTimestamp, noTimestamps} = vocabulary
  if (firstTimestamp === undefined || lastTimestamp === undefined) return rules
  const all = {...vocabulary, firstTimestamp, lastTimestamp}
  if (!timestamps) return [...rules, ({values}) => void values.fill(-Infinity, firstTimestamp, lastTimestamp + 1)]
  return [...rules, always(noTimestamps === undefined ? [] : [noTimestamps]), timestampGrammar(all), timestampMass(all)]
}

const always =
  (tokens: readonly number[]): TokenRule =>
  ({values}) => {
    for (const token of tokens) values[token] = -Infinity
  }

const atBegin =
  (tokens: readonly number[]): TokenRule =>
  ({values}, decoded) => {
    if (decoded.length === 0) for (const token of tokens) values[token] = -Infinity
  }

type Timed = WhisperVocabulary & {firstTimestamp: number; lastTimestamp: number}

/** Maximum initial timestamp of a window, in steps of 20 ms: 1 s. */
const maxInitialTimestamp = 50

/**
 * Timestamps occur in pairs around text and never decrease. The first of a pair is followed by the second or by the end
 * of text, the second by text. Segments are not empty. Source: the timestamp rules of openai/whisper.
 */
function timestampGrammar({firstTimestamp, lastTimestamp, endOfText}: Timed): TokenRule {
  const isTimestamp = (token: number | undefined) => token !== undefined && token >= firstTimestamp
  return (logits, decoded) => {
    const {values} = logits
    if (decoded.length === 0) {
      logits.excludeText(firstTimestamp)
      values.fill(-Infinity, firstTimestamp + maxInitialTimestamp + 1, lastTimestamp + 1)
      return
    }
    const last = isTimestamp(decoded.at(-1))
    const both = last && (decoded.length < 2 || isTimestamp(decoded.at(-2)))
    if (both) values.fill(-Infinity, firstTimestamp, lastTimestamp + 1)
    else if (last) logits.excludeText(endOfText)
    const latest = decoded.findLast(isTimestamp)
    if (latest !== undefined) values.fill(-Infinity, firstTimestamp, last && !both ? latest : latest + 1)
  }
}

/** Requires a timestamp if the total probability of all timestamps exceeds that of every text token. */
function timestampMass({firstTimestamp, lastTimestamp}: Timed): TokenRule {
  return (logits) => {
    const mass = logSumExp(logits.values.subarray(firstTimestamp, lastTimestamp + 1))
    if (mass > logits.highestBefore(firstTimestamp)) logits.excludeTextBelow(mass, firstTimestamp)
  }
}
