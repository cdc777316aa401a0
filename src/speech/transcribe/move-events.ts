import type {Segment} from '../model/model.js'
import type {TranscribeEvent} from './options.js'

/** Moves the times of all segments and chunks by `bySec` seconds. */
export async function* moveEvents(
  events: AsyncIterable<TranscribeEvent>,
  bySec: number,
): AsyncGenerator<TranscribeEvent, void, undefined> {
  for await (const event of events) yield moveEvent(event, bySec)
}

function moveEvent(event: TranscribeEvent, bySec: number): TranscribeEvent {
  if (bySec === 0) return event
  const moveAll = (segments: readonly Segment[]) => segments.map((segment) => moveSegment(segment, bySec))
  if (event.type === 'segment') return {...event, segment: moveSegment(event.segment, bySec)}
  if (event.type === 'done')
    return {...event, transcript: {...event.transcript, segments: moveAll(event.transcript.segments)}}
  if (event.type !== 'chunk') return event
  const {startSec, endSec, segments} = event
  return {...event, startSec: startSec + bySec, endSec: endSec + bySec, segments: moveAll(segments)}
}

/** Moves the times of a segment and its words. */
export const moveSegment = (segment: Segment, bySec: number): Segment => ({
  ...segment,
  startSec: segment.startSec + bySec,
  endSec: segment.endSec + bySec,
  ...(segment.words === undefined
    ? {}
    : {
        words: segment.words.map((word) => ({
          ...word,
          startSec: word.startSec + bySec,
          endSec: word.endSec + bySec,
        })),
      }),
})
