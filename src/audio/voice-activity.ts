/** A half-open range of speech, in samples from the start of the recording. */
export interface SpeechRegion {
  start: number
  end: number
}

/** A streaming voice activity detector. The regions do not depend on the size of the chunks. */
export interface VoiceActivityDetector {
  /** Processes the next samples, mono at 16 kHz; returns the regions that ended, in order. */
  push(samples: Float32Array): Promise<SpeechRegion[]>
  /** Ends the recording; returns the remaining regions. */
  flush(): Promise<SpeechRegion[]>
  /** The region that has not ended yet, once it is known to be speech. */
  readonly open: SpeechRegion | undefined
  /** No later region begins before this sample. */
  readonly settled: number
}
