import type {Alternative, RecognitionOptions, Segment} from '../model.js'
import type {Transcript} from '../transcript/transcript.js'
import type {WindowMemo} from './window-memo.js'

/** How a recording is transcribed. */
export interface TranscribeOptions extends Omit<RecognitionOptions, 'previousTokens'> {
  /** Whether a window is told what was said before it. */
  conditionOnPrevious: boolean
  /** Length of independent chunks, seconds; 0 lets the model walk through the recording. */
  chunkSec: number
  /** How much of a chunk is heard again in the next one, where it cannot end in silence, seconds. */
  chunkOverlapSec: number
  /** Changes the sound of a window before it is recognised, such as its loudness. */
  preprocess?: ((samples: Float32Array) => Float32Array) | undefined
  /** Results of earlier passes over the same audio. */
  memo?: WindowMemo | undefined
}

/** What can be told of a transcription while it runs, in order of time. */
export type TranscribeEvent =
  /** A segment that will not change any more. */
  | {type: 'segment'; segment: Segment}
  /** How much of the recording is done with, seconds. */
  | {type: 'progress'; processedSec: number}
  /** A window or chunk was recognised. */
  | {type: 'chunk'; index: number; startSec: number; endSec: number; text: string; segments: readonly Segment[]}
  | {type: 'done'; transcript: Transcript; speechSec: number; timings: TranscribeTimings}

export interface TranscribeTimings {
  featuresMs: number
  encodeMs: number
  decodeMs: number
  windows: number
}

/** The options of someone who asks for nothing in particular. */
export const defaultTranscribeOptions: TranscribeOptions = {
  task: 'transcribe',
  beamSize: 1,
  bestOf: 5,
  temperatures: [0, 0.2, 0.4, 0.6, 0.8, 1],
  seed: 299_792_458,
  noSpeechThreshold: 0.6,
  logprobThreshold: -1,
  compressionRatioThreshold: 2.4,
  hotwords: [],
  hotwordStrength: 0.8,
  preferred: [],
  wordTimestamps: false,
  alternatives: 1,
  conditionOnPrevious: true,
  chunkSec: 0,
  chunkOverlapSec: 0.5,
}

/** What was recognised in one window, at its place in the recording. */
export interface PassageWindow {
  startSec: number
  endSec: number
  segments: Segment[]
  alternatives: readonly Alternative[]
}
