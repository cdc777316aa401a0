import type {Segment} from '../model/model.js'
import {asrConfidence} from '../text/confidence.js'
import {finishSegment} from '../text/finish.js'
import {needsAllSegments} from '../text/refine.js'
import {finishTranscript} from '../transcript/finish-transcript.js'
import type {Transcript} from '../transcript/transcript.js'
import type {TranscribedFile, TranscribeHandlers, TranscriberOptions} from './options.js'

type Refinement = Pick<TranscriberOptions, 'refine' | 'text'>

/** True if the segments are final only at the end. */
export const holdsSegments = ({refine, text}: Refinement): boolean => refine && needsAllSegments(text)

/** A segment as it is reported before the end. */
export const shown = (segment: Segment, {refine, text}: Refinement): Segment =>
  refine ? {...segment, text: finishSegment(segment.text, text)} : segment

/** Refines a complete transcript, and reports the segments that were held. */
export async function finish(
  heard: Transcript,
  {refine, text}: Refinement,
  onSegment: TranscribeHandlers['onSegment'],
): Promise<Omit<TranscribedFile, 'languageDiagnostics' | 'recording'>> {
  const {refined, finished} = finishTranscript(heard, text)
  if (holdsSegments({refine, text})) for (const segment of refined.segments) await onSegment?.(segment)
  return {transcript: refine ? refined : heard, finished, asrConfidence: asrConfidence(heard.segments)}
}
