import type {Segment, WindowResult, WordTiming} from '../model/model.js'

/** The audio around a window; all times are seconds from the start of the window. */
export interface WindowPlace {
  /** Start of the recording, at most 0, and its end; Infinity if that is unknown. */
  recordingStartSec: number
  recordingEndSec: number
  /** End of the last word before the window. */
  lastWordSec: number
  /** Length of the audio that was recognised. */
  audioSec: number
  /** Length of a complete window. */
  windowSec: number
}

/** A segment this close to an edge of its window counts as next to silence, seconds. */
const edgeSec = 2

/** Minimum advance to a dropped segment, which the next window repeats, seconds. */
const minAdvanceSec = 1

/**
 * Drops the text from the first possible hallucination on that is between two silences, and continues after the silence
 * before it. Source: `hallucination_silence_threshold` of openai/whisper.
 * @param thresholdSec silence above which text is dropped
 */
export function withoutHallucinations(
  result: WindowResult,
  {recordingStartSec, recordingEndSec, lastWordSec, audioSec, windowSec}: WindowPlace,
  thresholdSec: number,
): WindowResult {
  const spoken = result.segments.filter(({words = []}) => words.length > 0)
  const lastEnd = spoken.at(-1)?.endSec ?? 0
  let {consumedSec} = result
  if (consumedSec < audioSec && lastEnd > 0) consumedSec = windowSec - lastEnd > thresholdSec ? lastEnd : audioSec
  const [first] = spoken
  if (isAnomaly(first) && first.startSec > thresholdSec) return {...result, segments: [], consumedSec: first.startSec}
  let before = lastWordSec
  for (const [i, segment] of spoken.entries()) {
    const {startSec, endSec} = segment
    const next = spoken[i + 1]
    const nextStart = next?.startSec ?? Math.min(windowSec, recordingEndSec)
    const isAfterSilence =
      startSec - before > thresholdSec || startSec - recordingStartSec < thresholdSec || startSec < edgeSec
    const isBeforeSilence = nextStart - endSec > thresholdSec || isAnomaly(next) || windowSec - endSec < edgeSec
    if (isAnomaly(segment) && isAfterSilence && isBeforeSilence)
      return {
        ...result,
        segments: result.segments.slice(0, result.segments.indexOf(segment)),
        consumedSec: recordingEndSec - endSec < thresholdSec ? recordingEndSec : Math.max(minAdvanceSec, startSec),
      }
    before = endSec
  }
  return {...result, consumedSec}
}

/** Number of words that are examined. */
const examinedWords = 8

/** True if the first words are unlikely, too short or too long. */
function isAnomaly(segment: Segment | undefined): segment is Segment {
  const words = segment?.words?.filter(({word}) => !/^\p{P}*$/u.test(word)).slice(0, examinedWords) ?? []
  const score = words.reduce((sum, word) => sum + anomalyScore(word), 0)
  return segment?.words !== undefined && (score >= 3 || score + 0.01 >= words.length)
}

function anomalyScore({probability, startSec, endSec}: WordTiming): number {
  const length = endSec - startSec
  return (probability < 0.15 ? 1 : 0) + Math.max(0, 15 * (0.133 - length)) + Math.max(0, length - 2)
}
