/** A stretch of speech: samples from the start of the recording, the end exclusive. */
export interface SpeechRegion {
  start: number
  end: number
}

/** Finds where people speak while a recording is read. Pieces of any size give the same regions. */
export interface VoiceActivityDetector {
  /** Takes the next samples, mono at 16 kHz; gives the regions that have ended, in order. */
  push(samples: Float32Array): Promise<SpeechRegion[]>
  /** The recording ends: gives what was still open. */
  flush(): Promise<SpeechRegion[]>
  /** The region that has not ended yet, once it is sure to be speech. */
  readonly open: SpeechRegion | undefined
  /** No region that is still to come begins before this sample. */
  readonly settled: number
}
