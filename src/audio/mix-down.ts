import {weightsOf} from './channel-layout.js'
import type {Block} from './sound.js'

/** Audio whose phase is compared at once, and time over which the levels are averaged, seconds. */
const spanSec = 0.05
const memorySec = 0.5
/** The phases are opposite if the mix has less than this share of the mean power of the channels: 15 dB below it. */
const minShare = 0.03

/**
 * Mixes the channels of a recording to one, or selects one. While two channels have opposite phase, they cancel each other in a
 * mix; then, the first channel is used.
 */
export class MixDown {
  readonly #channel: number | undefined
  /** Mean powers of the mix and of the channels, over the last spans. */
  #mixed = 0
  #single = 0
  /** Duration of the audio of two channels, and of the part with opposite phase, seconds. */
  #pairSec = 0
  #oppositeSec = 0

  /** @param channel the only channel to use, from 1 */
  constructor(channel: number | undefined) {
    this.#channel = channel
  }

  /** Duration of the audio with opposite phase, seconds; 0 if that is less than half a second and most of the audio. */
  get oppositeSec(): number {
    return this.#oppositeSec >= Math.min(0.5, this.#pairSec / 2) ? this.#oppositeSec : 0
  }

  /** A channel that a part of a recording lacks is silent there. */
  mix({channels, sampleRate, layout}: Block): Float32Array {
    const [first, second] = channels
    const length = first?.length ?? 0
    if (this.#channel !== undefined) return channels[this.#channel - 1] ?? new Float32Array(length)
    if (first === undefined || second === undefined) return first ?? new Float32Array(0)
    const mono = new Float32Array(length)
    for (const [i, weight] of weightsOf(layout, channels.length).entries()) {
      const channel = channels[i] as Float32Array
      if (weight > 0) for (let at = 0; at < length; at++) mono[at]! += weight * channel[at]!
    }
    if (channels.length === 2) this.#replaceOpposite(mono, first, second, sampleRate)
    return mono
  }

  #replaceOpposite(mono: Float32Array, first: Float32Array, second: Float32Array, sampleRate: number): void {
    const span = Math.ceil(spanSec * sampleRate)
    for (let from = 0; from < mono.length; from += span) {
      const to = Math.min(from + span, mono.length)
      const kept = Math.exp((from - to) / (memorySec * sampleRate))
      this.#mixed *= kept
      this.#single *= kept
      for (let at = from; at < to; at++) {
        this.#mixed += mono[at]! ** 2
        this.#single += (first[at]! ** 2 + second[at]! ** 2) / 2
      }
      this.#pairSec += (to - from) / sampleRate
      if (!(this.#mixed < minShare * this.#single)) continue
      this.#oppositeSec += (to - from) / sampleRate
      mono.set(first.subarray(from, to), from)
    }
  }
}
