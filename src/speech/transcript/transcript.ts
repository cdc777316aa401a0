import type {Alternative, Segment} from '../model.js'

/** What was said in a recording: the result of the recogniser, before any rule changes its words. */
export interface Transcript {
  task: 'transcribe' | 'translate'
  /** Code such as `en`. */
  language: string
  languageProbability: number
  /** Length of the recording, seconds. */
  durationSec: number
  /** The texts of the segments, joined. */
  text: string
  /** In order of time; times count from the start of the recording. */
  segments: readonly Segment[]
  /** Of the whole, best first; empty unless asked for. */
  alternatives: readonly Alternative[]
}
