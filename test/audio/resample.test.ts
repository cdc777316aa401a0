import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {resampler} from '../../src/audio/index.js'
import {joined, sine} from '../support/sounds.js'

function resample(sound: Float32Array, from: number, to: number, piece = sound.length): Float32Array {
  const {push, flush} = resampler(from, to)
  const out: Float32Array[] = []
  for (let at = 0; at < sound.length; at += piece) out.push(push(sound.subarray(at, at + piece)))
  return joined([...out, flush()])
}

const power = (sound: Float32Array) => sound.reduce((sum, x) => sum + x * x, 0) / sound.length

describe('resampler', () => {
  for (const [from, to] of [
    [8000, 16_000],
    [44_100, 16_000],
    [48_000, 16_000],
    [22_050, 16_000],
    [16_000, 48_000],
    [44_056, 16_000],
  ] as const)
    it(`preserves a tone, its phase and its duration from ${from} to ${to} Hz`, () => {
      const out = resample(sine(1000, 2 * from, {rate: from}), from, to)
      assert.equal(out.length, 2 * to)
      const tone = sine(1000, 2 * to, {rate: to})
      for (let i = 400; i < out.length - 400; i++) assert.ok(Math.abs(out[i]! - tone[i]!) < 1e-4)
    })

  it('removes frequencies above the new Nyquist frequency', () => {
    for (const hertz of [8200, 9000, 12_000, 20_000]) {
      const out = resample(sine(hertz, 96_000, {rate: 48_000}), 48_000, 16_000)
      assert.ok(10 * Math.log10(power(out.subarray(500, -500)) + 1e-20) < (hertz < 8500 ? -30 : -80), `${hertz} Hz`)
    }
  })

  it('preserves a constant', () => {
    const out = resample(new Float32Array(44_100).fill(0.25), 44_100, 16_000)
    for (const x of out.subarray(100, -100)) assert.ok(Math.abs(x - 0.25) < 1e-6)
  })

  it('returns the same output for any chunk size, and none for no input', () => {
    const sound = sine(700, 30_000, {rate: 44_100})
    const whole = resample(sound, 44_100, 16_000)
    for (const piece of [1, 13, 999]) assert.deepEqual(resample(sound, 44_100, 16_000, piece), whole)
    assert.equal(resample(new Float32Array(), 44_100, 16_000).length, 0)
  })

  it('changes nothing between equal rates', () => {
    const sound = sine(700, 3000)
    assert.deepEqual(resample(sound, 16_000, 16_000), sound)
  })
})
