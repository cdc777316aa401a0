import {
  type Alternative,
  type ConstraintWarning,
  noConstraints,
  noPreference,
  type RecognitionOptions,
  type Segment,
} from '../model/model.js'
import type {Transcript} from '../transcript/transcript.js'
import type {WindowMemo} from './window-memo.js'

/** Results of earlier passes over the same audio. */
export interface WindowResults extends Pick<WindowMemo, 'recognise'> {
  /** True if the samples `from` to `to` are known to have a result, which `recognise` returns. */
  has?(position: {from: number; to: number}, recognition: RecognitionOptions): boolean
}

/** Options of the transcription of a recording. */
export interface TranscribeOptions extends Omit<RecognitionOptions, 'previousTokens'> {
  /** Uses the text before a window as its prompt. */
  conditionOnPrevious: boolean
  /** Silence around a possible hallucination above which its text is dropped, seconds; undefined keeps all text. */
  hallucinationSilenceSec?: number | undefined
  /** Length by which detected speech is extended at both ends, seconds. */
  speechPadSec?: number | undefined
  /** Length of independent chunks, seconds; 0 uses the windows of the model. */
  chunkSec: number
  /** Number of chunks that are recognised together, if the model supports it; 0 depends on the cores and the memory. */
  batch: number
  /** Overlap of chunks that do not end in silence, seconds. */
  chunkOverlapSec: number
  /** Processes the samples of a window before recognition, for instance their loudness. */
  preprocess?: ((samples: Float32Array) => Float32Array) | undefined
  /** Results of earlier passes over the same audio. */
  memo?: WindowResults | undefined
}

/** The options of single windows. */
export function recognitionOf(options: TranscribeOptions): Omit<RecognitionOptions, 'previousTokens'> {
  const {
    conditionOnPrevious,
    hallucinationSilenceSec,
    speechPadSec,
    chunkSec,
    batch,
    chunkOverlapSec,
    preprocess,
    memo,
    ...recognition
  } = options
  return recognition
}

/** Events of a running transcription, in order. */
export type TranscribeEvent =
  /** A final segment. */
  | {type: 'segment'; segment: Segment}
  /** Duration of the processed audio, seconds. */
  | {type: 'progress'; processedSec: number}
  /** A constraint was not applied. */
  | {type: 'warning'; warning: ConstraintWarning}
  /** A window or chunk was recognised. */
  | {type: 'chunk'; index: number; startSec: number; endSec: number; text: string; segments: readonly Segment[]}
  | {type: 'done'; transcript: Transcript; speechSec: number; timings: TranscribeTimings}

export interface TranscribeTimings {
  featuresMs: number
  encodeMs: number
  decodeMs: number
  wholeHeads: number
  windows: number
}

/** Default options. */
export const defaultTranscribeOptions: TranscribeOptions = {
  task: 'transcribe',
  beamSize: 1,
  bestOf: 5,
  patience: 1,
  lengthPenalty: undefined,
  temperatures: [0, 0.2, 0.4, 0.6, 0.8, 1],
  seed: 299_792_458,
  noSpeechThreshold: 0.6,
  logprobThreshold: -1,
  compressionRatioThreshold: 2.4,
  hotwords: [],
  constraints: noConstraints,
  preferred: noPreference,
  wordTimestamps: false,
  alternatives: 1,
  conditionOnPrevious: true,
  chunkSec: 0,
  batch: 1,
  chunkOverlapSec: 0.5,
}

/** Result of one window, at its position in the recording. */
export interface PassageWindow {
  startSec: number
  endSec: number
  segments: Segment[]
  alternatives: readonly Alternative[]
}
