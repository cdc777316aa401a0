import type {AudioSource} from './audio-stream.js'

/** A recording that is being decoded: one channel at the rate of the file. */
export interface Sound {
  source: AudioSource
  /** Seconds; undefined where the container does not say, or cannot be believed. */
  durationSec: number | undefined
  /** Pieces of any length. */
  samples: AsyncIterable<Float32Array>
}

/** Something about a recording that is not as it should be, while there is still sound to use. */
export interface AudioWarning {
  code: 'audio_truncated' | 'audio_damaged' | 'audio_not_finite'
  message: string
}

/** What a decoder needs to know besides its bytes. */
export interface DecoderContext {
  /** What the recording is called in errors. */
  name: string
  /** Bytes of the whole file, where that is known. */
  fileBytes: number | undefined
  warn: (warning: AudioWarning) => void
  signal: AbortSignal | undefined
}
