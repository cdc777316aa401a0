import {openAudio} from '../../src/audio/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {randomFloats} from './random-floats.js'

/** All samples of a recording, mono at 16 kHz. */
export async function readClip(path: string): Promise<Float32Array> {
  return joined(await collect(await openAudio({path}, {sampleRate: 16_000})))
}

export async function collect(pieces: AsyncIterable<Float32Array>): Promise<Float32Array[]> {
  const all: Float32Array[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

export function joined(pieces: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(pieces.reduce((sum, {length}) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    out.set(piece, at)
    at += piece.length
  }
  return out
}

export const sine = (hertz: number, samples: number, {rate = 16_000, level = 0.5} = {}): Float32Array =>
  new Float32Array(samples).map((_, i) => level * Math.sin((2 * Math.PI * hertz * i) / rate))

/** A sound scaled to a root mean square, dB below full scale. */
export function atLevel(sound: Float32Array, decibels: number): Float32Array {
  const power = sound.reduce((sum, x) => sum + x * x, 0) / sound.length
  const gain = 10 ** (decibels / 20) / Math.sqrt(power)
  return sound.map((x) => x * gain)
}

export const whiteNoise = (samples: number, seed = 1): Float32Array => randomFloats(seed)(samples)

/** Noise with equal power in each octave, by Paul Kellet's filter. */
export function pinkNoise(samples: number, seed = 1): Float32Array {
  const poles = [0.99886, 0.99332, 0.969, 0.8665, 0.55, -0.7616]
  const gains = [0.0555179, 0.0750759, 0.153852, 0.3104856, 0.5329522, -0.016898]
  const state = poles.map(() => 0)
  let late = 0
  return whiteNoise(samples, seed).map((white) => {
    let sum = late + 0.5362 * white
    for (const [i, pole] of poles.entries()) {
      state[i] = pole * state[i]! + gains[i]! * white
      sum += state[i]!
    }
    late = 0.115926 * white
    return sum
  })
}

/** Mains hum: 50 Hz and its harmonics. */
export function hum(samples: number): Float32Array {
  const harmonics = [1, 2, 3, 4, 5, 7]
  return new Float32Array(samples).map((_, i) =>
    harmonics.reduce((sum, n) => sum + Math.sin((2 * Math.PI * 50 * n * i) / 16_000) / n, 0),
  )
}

/** Short bursts at irregular intervals. */
export function clicks(samples: number, perSecond: number, seed = 1): Float32Array {
  const uniform = randomSource(seed)
  const out = new Float32Array(samples)
  for (let at = 0; at < samples; at += Math.round((16_000 / perSecond) * (0.8 + 0.4 * uniform())))
    for (let k = 0; k < 80 && at + k < samples; k++) out[at + k] = 0.8 * Math.exp(-k / 15) * (2 * uniform() - 1)
  return out
}

export const sumOf = (a: Float32Array, b: Float32Array): Float32Array => a.map((x, i) => x + (b[i] ?? 0))
