import type {TrackList} from '../../audio/index.js'
import type {TranscribeV1} from '../../contracts/index.js'
import type {Segment} from '../model/model.js'
import type {DeadlineDiagnostic} from '../session/session.js'
import {clarificationRecommended, fourDecimals} from '../text/confidence.js'
import type {TranscribedFile} from '../transcriber/options.js'

export interface PayloadOptions {
  /** Path in the result: an absolute path, or `-`. */
  path: string
  correlationId: string
  refined: boolean
  /** Confidence below which the user should be asked. */
  minConfidence: number
  /** The time limits that were checked. */
  diagnostics?: readonly DeadlineDiagnostic[]
  /** The settings; if present, they and all corrections are included. */
  runtime?: object | undefined
}

/** Converts a transcript to the result that all surfaces return. */
export function transcribePayload(
  {transcript, finished, asrConfidence, languageDiagnostics, recording}: TranscribedFile,
  {path, correlationId, refined, minConfidence, diagnostics = [], runtime}: PayloadOptions,
): TranscribeV1 {
  const {rawText, refinedText, confidence, nBest} = finished
  return {
    path,
    correlation_id: correlationId,
    raw_text: rawText,
    refined_text: refinedText,
    text: refined ? refinedText : rawText,
    confidence: fourDecimals(confidence),
    clarification_recommended: clarificationRecommended(confidence, minConfidence),
    ...(nBest === undefined ? {} : {n_best: [...nBest]}),
    ...(languageDiagnostics === undefined ? {} : {language_diagnostics: languageDiagnostics}),
    ...(recording === undefined
      ? {}
      : {
          model: recording.model,
          task: transcript.task,
          language: transcript.language,
          duration_ms: Math.round(1000 * transcript.durationSec),
          no_speech: transcript.segments.length === 0,
          segments: transcript.segments.map(segmentPayload),
          ...(asrConfidence === undefined ? {} : {asr_confidence: asrConfidence}),
          ...(recording.tracks === undefined ? {} : tracksPayload(recording.tracks)),
          warnings: [...recording.warnings],
          timings: timingsPayload(recording, transcript.durationSec),
        }),
    ...(diagnostics.length === 0 ? {} : {deadline_diagnostics: [...diagnostics]}),
    ...(runtime === undefined ? {} : {correction_trace: [...finished.trace], runtime_config: {...runtime}}),
  }
}

/** The audio tracks of a film in its result. */
export const tracksPayload = ({tracks, selected}: TrackList) => ({
  audio_track: selected,
  audio_tracks: tracks.map(({number, language, title, isDefault}) => ({
    number,
    language: language ?? null,
    title: title ?? null,
    default: isDefault,
  })),
})

const milliseconds = (seconds: number) => Math.round(1000 * seconds)

const segmentPayload = (segment: Segment, id: number) => ({
  id,
  start_ms: milliseconds(segment.startSec),
  end_ms: milliseconds(segment.endSec),
  ...(segment.speaker === undefined ? {} : {speaker: segment.speaker}),
  text: segment.text.trim(),
  avg_logprob: fourDecimals(segment.avgLogprob),
  no_speech_prob: fourDecimals(segment.noSpeechProb),
  ...(segment.constraintEscaped ? {constraint_escaped: true as const} : {}),
  ...(segment.words === undefined
    ? {}
    : {
        words: segment.words.map(({word, startSec, endSec, probability}) => ({
          word: word.trim(),
          start_ms: milliseconds(startSec),
          end_ms: milliseconds(endSec),
          probability: fourDecimals(probability),
        })),
      }),
})

/** The timings in the result of a recording. */
export function timingsPayload({timings}: NonNullable<TranscribedFile['recording']>, durationSec: number) {
  const tenths = (ms: number) => Math.round(10 * ms) / 10
  const workMs = timings.totalMs - timings.loadMs
  return {
    total_ms: tenths(timings.totalMs),
    load_ms: tenths(timings.loadMs),
    features_ms: tenths(timings.featuresMs),
    encode_ms: tenths(timings.encodeMs),
    decode_ms: tenths(timings.decodeMs),
    windows: timings.windows,
    whole_heads: timings.wholeHeads,
    rtf: durationSec === 0 ? 0 : fourDecimals(workMs / 1000 / durationSec),
  }
}
