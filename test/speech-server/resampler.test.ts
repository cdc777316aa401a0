import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {pathToFileURL} from 'node:url'
import {projectFile} from '../support/project.js'

interface Resampler {
  push(samples: Float32Array): Float32Array
  flush(): Float32Array
}

// A browser runs the module as it is, without a build.
const url = pathToFileURL(projectFile('src/speech-server/page/script/resampler.js')).href
const {Resampler} = (await import(url)) as {Resampler: new (rate: number) => Resampler}

const tone = (hertz: number, rate: number, length: number) =>
  Float32Array.from({length}, (_, i) => Math.sin((2 * Math.PI * hertz * i) / rate))

/** Resamples one second of a tone in blocks, as the audio thread does. */
function resampled(hertz: number, rate: number, block = 128): Float32Array {
  const resampler = new Resampler(rate)
  const input = tone(hertz, rate, rate)
  const output: number[] = []
  for (let at = 0; at < rate; at += block) output.push(...resampler.push(input.subarray(at, at + block)))
  return Float32Array.from([...output, ...resampler.flush()])
}

/** Largest value without the ends, where the filter sees the silence around the tone. */
const peak = (samples: Float32Array) => samples.subarray(200, -200).reduce((max, x) => Math.max(max, Math.abs(x)), 0)

describe('the resampler of the speech page', () => {
  for (const rate of [8000, 16_000, 44_100, 48_000, 96_000]) {
    it(`keeps a tone of 1 kHz at ${rate} Hz, in time`, () => {
      const output = resampled(1000, rate)
      assert.ok(Math.abs(output.length - 16_000) <= 1, `${output.length} samples for one second`)
      const expected = tone(1000, 16_000, output.length)
      const error = output.map((sample, i) => sample - (expected[i] ?? 0))
      assert.ok(peak(error) < 0.002, `differs by ${peak(error)}`)
    })
  }

  it('removes tones above 8 kHz instead of folding them into speech', () => {
    for (const rate of [44_100, 48_000]) assert.ok(peak(resampled(10_000, rate)) < 0.002)
  })

  it('does not depend on the size of the blocks', () => {
    assert.deepEqual(resampled(440, 44_100, 1), resampled(440, 44_100, 4410))
  })
})
