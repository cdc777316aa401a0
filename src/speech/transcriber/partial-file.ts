import {appendFile, mkdir} from 'node:fs/promises'
import {dirname} from 'node:path'
import type {Segment} from '../model/model.js'
import {fourDecimals} from '../text/confidence.js'
import type {TranscribeEvent} from '../transcribe/options.js'

type Chunk = Extract<TranscribeEvent, {type: 'chunk'}>

export interface PartialWriter {
  start(durationSec: number | undefined): void
  write(chunk: Chunk): Promise<void>
}

/** Appends a JSON line per chunk to a file, for progress displays; write errors are ignored. */
export function partialWriter(
  path: string,
  {sessionId, chunkSec}: {sessionId: string; chunkSec: number},
): PartialWriter {
  let expected = 1
  let tokenIndex = 0
  return {
    start(durationSec) {
      if (durationSec !== undefined) expected = Math.ceil(durationSec / (chunkSec || windowSec))
    },
    async write({index, startSec, endSec, text, segments: heard}) {
      const ts_ms = Date.now()
      const tokens = heard.flatMap((segment, i) =>
        eventsOf(segment, {session_id: sessionId, chunk_index: index}, i, ts_ms),
      )
      const chunk = {
        session_id: sessionId,
        chunk_index: index,
        // The number of chunks is known only at the end, because chunks end in pauses.
        total_chunks: Math.max(index + 1, expected),
        ...speakerOf(heard[0]),
        partial_text: text.trim(),
        start_ms: Math.round(1000 * startSec),
        end_ms: Math.round(1000 * endSec),
        ts_ms,
      }
      await mkdir(dirname(path), {recursive: true}).catch(() => undefined)
      const lines = [...tokens, chunk].map((line) => `${JSON.stringify(line)}\n`)
      await appendFile(path, lines.join('')).catch(() => undefined)
    },
  }

  /** Lines for each token of a segment and for the segment itself; none if tokens were not requested. */
  function eventsOf(segment: Segment, place: object, index: number, ts_ms: number): object[] {
    const {pieces, text, startSec, endSec, constraintEscaped} = segment
    if (pieces === undefined) return []
    const escaped = constraintEscaped ? {constraint_escaped: true} : {}
    const at = {...place, segment_index: index}
    return [
      ...pieces.map(({logprob, ...piece}) => ({
        event: 'token',
        ...at,
        token_index: tokenIndex++,
        ...piece,
        logprob: fourDecimals(logprob),
        ...escaped,
        ts_ms,
      })),
      {
        event: 'segment',
        ...at,
        start_ms: Math.round(1000 * startSec),
        end_ms: Math.round(1000 * endSec),
        ...speakerOf(segment),
        text: text.trim(),
        avg_logprob: fourDecimals(segment.avgLogprob),
        no_speech_prob: fourDecimals(segment.noSpeechProb),
        compression_ratio: fourDecimals(segment.compressionRatio),
        temperature: segment.temperature,
        ...escaped,
        ts_ms,
      },
    ]
  }
}

const speakerOf = (segment: Segment | undefined) => (segment?.speaker === undefined ? {} : {speaker: segment.speaker})

/** Typical chunk length if none is configured, seconds. */
const windowSec = 30
