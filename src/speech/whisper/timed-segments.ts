import {timestampSec, type WhisperVocabulary} from './vocabulary.js'

/** Text tokens with their times within the window, seconds. */
export interface TimedTokens {
  startSec: number
  endSec: number
  tokens: number[]
}

export interface TimedWindow {
  segments: TimedTokens[]
  /** Length of the completed part of the window, seconds. */
  consumedSec: number
}

/**
 * Splits the tokens of a window at their timestamps. A pair of timestamps ends one segment and starts the next one. Text
 * after the last pair is incomplete and is decoded again in the next window, unless a single timestamp ends the window.
 * Source: the seek rules of openai/whisper.
 * @param windowSec length of the audio in the window
 */
export function cutAtTimestamps(
  vocabulary: WhisperVocabulary,
  tokens: readonly number[],
  windowSec: number,
): TimedWindow {
  const {firstTimestamp = Number.POSITIVE_INFINITY} = vocabulary
  const isTimestamp = (token: number | undefined) => token !== undefined && token >= firstTimestamp
  const at = (token: number | undefined) => Math.min(timestampSec(vocabulary, token as number), windowSec)
  const pairs = [...tokens.keys()].filter((i) => i > 0 && isTimestamp(tokens[i]) && isTimestamp(tokens[i - 1]))
  const endsOnce = isTimestamp(tokens.at(-1)) && !isTimestamp(tokens.at(-2))
  if (pairs.length === 0) {
    const last = tokens.findLast((token) => isTimestamp(token) && token !== firstTimestamp)
    const text = tokens.filter((token) => !isTimestamp(token))
    const endSec = last === undefined ? windowSec : at(last)
    return {segments: withText([{startSec: startOf(tokens), endSec, tokens: text}]), consumedSec: windowSec}
  }
  const cuts = endsOnce ? [...pairs, tokens.length] : pairs
  const segments = cuts.map((end, i) => {
    const piece = tokens.slice(cuts[i - 1] ?? 0, end)
    return {startSec: at(piece[0]), endSec: at(piece.at(-1)), tokens: piece.filter((token) => !isTimestamp(token))}
  })
  const consumedSec = endsOnce ? windowSec : at(tokens[(pairs.at(-1) as number) - 1])
  return {segments: withText(segments), consumedSec}

  function startOf(all: readonly number[]): number {
    return isTimestamp(all[0]) ? at(all[0]) : 0
  }
}

const withText = (segments: readonly TimedTokens[]): TimedTokens[] =>
  segments.filter(({tokens, startSec, endSec}) => tokens.length > 0 && endSec > startSec)
