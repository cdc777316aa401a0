import type {Alternative, Segment} from '../model/model.js'

/** Result of recognition, before refinement. */
export interface Transcript {
  task: 'transcribe' | 'translate'
  /** Language code, such as `en`. */
  language: string
  languageProbability: number
  /** Duration of the recording, seconds. */
  durationSec: number
  /** The texts of the segments, joined. */
  text: string
  /** In chronological order; times are relative to the start of the recording. */
  segments: readonly Segment[]
  /** Alternatives of the complete text, best first; empty unless requested. */
  alternatives: readonly Alternative[]
}
