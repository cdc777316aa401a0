/** Decodes recordings in tests of `audio`, and measures what was decoded. */
import assert from 'node:assert/strict'
import {Readable} from 'node:stream'
import {type AudioInput, type AudioWarning, openAudio, type RawPcm} from '../../../src/audio/index.js'
import {collect, joined, sine} from '../../support/sounds.js'

export async function decode(input: AudioInput, sampleRate = 16_000, channel?: number) {
  const warnings: AudioWarning[] = []
  const audio = await openAudio(input, {sampleRate, channel, onWarning: (warning) => warnings.push(warning)})
  const pieces = await collect(audio)
  return {...audio, pieces, sound: joined(pieces), warnings: warnings.map(({code}) => code)}
}

export const fromBytes = (bytes: Uint8Array, pieceSize = 4096, raw?: RawPcm): AudioInput => ({
  name: 'standard input',
  stream: Readable.from(pieces(bytes, pieceSize)),
  raw,
})

export function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Maximum difference away from the ends, where resampled audio rings. */
export function difference(a: Float32Array, b: Float32Array, margin = 400): number {
  assert.equal(a.length, b.length)
  let largest = 0
  for (let i = margin; i < a.length - margin; i++) largest = Math.max(largest, Math.abs(a[i]! - b[i]!))
  return largest
}

/** A different tone in each channel. */
export const tones = (channels: number, {rate = 16_000} = {}): Float32Array[] =>
  Array.from({length: channels}, (_, i) => sine(200 + 100 * i, rate / 2, {rate, level: 0.4}))

/** Estimates the frequency by counting zero crossings, Hz. */
export function frequency(sound: Float32Array): number {
  let crossings = 0
  for (let i = 1; i < sound.length; i++) if (sound[i - 1]! < 0 && sound[i]! >= 0) crossings++
  return (crossings * 16_000) / sound.length
}

/** The file with another 16-bit value at a position. */
export function patched(file: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(file)
  copy.writeUInt16LE(value, at)
  if (at === 24) copy.writeUInt16LE(0, 26)
  return copy
}
