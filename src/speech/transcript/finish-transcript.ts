import type {Segment} from '../model/model.js'
import {refineConfidence} from '../text/confidence.js'
import {type FinishContext, type FinishedText, finishText} from '../text/finish.js'
import {mergeSegments} from './merge-segments.js'
import type {Transcript} from './transcript.js'

/** Refines the text of a transcript, of each speaker by itself: no sentence, repetition or program spans speakers. */
export function finishTranscript(
  heard: Transcript,
  context: Omit<FinishContext, 'language'>,
): {refined: Transcript; finished: FinishedText} {
  const speakers = [...new Set(heard.segments.map(({speaker}) => speaker))]
  const replaced = new Map<Segment, Segment>()
  const parts = (speakers.length === 0 ? [undefined] : speakers).map((speaker) => {
    const own = heard.segments.filter((segment) => segment.speaker === speaker)
    const {segmentTexts, ...finished} = finishText(
      own.map((segment) => segment.text),
      {...context, language: heard.language},
      heard.alternatives.map((alternative) => alternative.text),
    )
    const written =
      segmentTexts === undefined
        ? mergeSegments(own, finished.refinedText)
        : own.map((segment, i) => ({...segment, text: segmentTexts[i] ?? ''}))
    for (const [i, segment] of written.entries()) replaced.set(own[i] as Segment, segment)
    return finished
  })
  const segments = heard.segments.flatMap((segment) => replaced.get(segment) ?? [])
  const [first, ...others] = parts as [FinishedText]
  const trace = parts.flatMap((part) => part.trace)
  const finished =
    others.length === 0
      ? first
      : {
          rawText: heard.text,
          refinedText: segments.flatMap((segment) => segment.text || []).join(' '),
          confidence: refineConfidence(context.profile, trace.length, context.settings),
          trace,
          nBest: undefined,
        }
  return {refined: {...heard, text: finished.refinedText, segments}, finished}
}
