import type {AudioSource} from './audio-stream.js'
import type {TrackChoice, TrackList} from './audio-track.js'
import type {ChannelLayout} from './channel-layout.js'

/** Samples of all channels. */
export interface Block {
  /** Of equal length. */
  channels: readonly Float32Array[]
  /** Hz. */
  sampleRate: number
  layout: ChannelLayout
}

/** A recording that is being decoded. */
export interface Sound {
  /** Format at the start; the sample rate and the channels may change later. */
  source: AudioSource
  /** Seconds; undefined if the container does not contain it or is not reliable. */
  durationSec: number | undefined
  /** Of any length. */
  blocks: AsyncIterable<Block>
}

/** A defect of a recording that can still be used; the codes of damage start with `audio_`. */
export interface AudioWarning {
  code: 'audio_truncated' | 'audio_damaged' | 'audio_not_finite' | 'channels_opposite'
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
  /** The track to decode; undefined selects the default one. */
  track?: TrackChoice | undefined
  /** Called with the tracks of a container. */
  onTracks?: ((list: TrackList) => void) | undefined
  signal: AbortSignal | undefined
}
