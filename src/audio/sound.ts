import type {AudioSource} from './audio-stream.js'

/** A recording that is being decoded: one channel at the sample rate of the file. */
export interface Sound {
  source: AudioSource
  /** Seconds; undefined if the container does not contain it or is not reliable. */
  durationSec: number | undefined
  /** Chunks of any length. */
  samples: AsyncIterable<Float32Array>
}

/** A defect of a recording that can still be used. */
export interface AudioWarning {
  code: 'audio_truncated' | 'audio_damaged' | 'audio_not_finite'
  message: string
}

/** A recording that ends early; `reason` follows its name. */
export const truncationWarning = (name: string, reason: string): AudioWarning => ({
  code: 'audio_truncated',
  message: `${name} is truncated: it ${reason}. The available audio is used.`,
})

/** Context of a decoder, in addition to the bytes. */
export interface DecoderContext {
  name: string
  /** File size in bytes, if known. */
  fileBytes: number | undefined
  warn: (warning: AudioWarning) => void
  /** True if samples are passed on as soon as they arrive. */
  live: boolean
  /** The only channel to decode, from 1; undefined mixes all channels down. */
  channel?: number | undefined
  signal: AbortSignal | undefined
}
