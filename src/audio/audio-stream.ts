/** Chunks of mono samples, -1 to 1, at one sample rate. */
export interface AudioStream extends AsyncIterable<Float32Array> {
  /** Hz. */
  readonly sampleRate: number
  /** Format of the file. */
  readonly source: AudioSource
  /** Duration in seconds, if the container contains it and is reliable. */
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
