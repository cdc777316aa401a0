/** Mono sound at one rate, piece by piece, -1 to 1. */
export interface AudioStream extends AsyncIterable<Float32Array> {
  /** Hz. */
  readonly sampleRate: number
  /** What was in the file. */
  readonly source: AudioSource
  /** Length in seconds, where the container says it and can be believed. */
  readonly durationSec: number | undefined
}

export interface AudioSource {
  /** Such as `wav` or `ogg`. */
  container: string
  /** Such as `pcm_s16le` or `opus`. */
  codec: string
  /** Hz. */
  sampleRate: number
  channels: number
}
