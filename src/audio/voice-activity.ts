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
  /** Copies its state, which a new detector of the same kind and options continues from. */
  snapshot(): VoiceActivityState
}

/** The state of a detector: a value that can be cloned and serialised, and of which only its kind knows the form. */
export interface VoiceActivityState {
  /** Number of samples that were processed. */
  length: number
}
