import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createPowerSpectrum, frameLength, spectrumLength} from '../../src/audio/fourier.js'
import {whiteNoise} from '../support/sounds.js'

/** The power spectrum by the definition of the DFT. */
function powersByDefinition(frame: Float64Array): Float64Array {
  return Float64Array.from({length: spectrumLength}, (_, k) => {
    const angle = (n: number) => (-2 * Math.PI * ((k * n) % frameLength)) / frameLength
    const real = frame.reduce((sum, x, n) => sum + x * Math.cos(angle(n)), 0)
    const imaginary = frame.reduce((sum, x, n) => sum + x * Math.sin(angle(n)), 0)
    return real * real + imaginary * imaginary
  })
}

const frames: Record<string, Float64Array> = {
  noise: Float64Array.from(whiteNoise(frameLength)),
  silence: new Float64Array(frameLength),
  'a constant': new Float64Array(frameLength).fill(1),
  'one sample': new Float64Array(frameLength).fill(1, 7, 8),
  'a tone between two frequencies': Float64Array.from({length: frameLength}, (_, n) => Math.sin(0.31 * n)),
  'the Nyquist frequency': Float64Array.from({length: frameLength}, (_, n) => (n % 2 === 0 ? 1 : -1)),
}

describe('createPowerSpectrum', () => {
  for (const [kind, frame] of Object.entries(frames))
    it(`matches the definition of the DFT for ${kind}`, () => {
      const power = new Float64Array(spectrumLength)
      createPowerSpectrum().transform(frame, power)
      for (const [k, expected] of powersByDefinition(frame).entries())
        assert.ok(Math.abs(power[k]! - expected) <= 1e-9 * Math.max(1, expected), `${k}: ${power[k]}, not ${expected}`)
    })

  it('does not depend on the previous frame', () => {
    const spectrum = createPowerSpectrum()
    const [first, again] = [new Float64Array(spectrumLength), new Float64Array(spectrumLength)]
    spectrum.transform(frames.noise!, first)
    spectrum.transform(frames['one sample']!, again)
    spectrum.transform(frames.noise!, again)
    assert.deepEqual(again, first)
  })
})
