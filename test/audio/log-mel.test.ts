import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {logMel} from '../../src/audio/index.js'
import {melFilters} from '../../src/audio/mel-filters.js'
import {sharedData, skipWithout} from '../support/project.js'
import {readClip, sine} from '../support/sounds.js'

/** The weights of a filter by frequency index. */
function row(bins: number, index: number): Map<number, number> {
  const {first, offsets, weights} = melFilters(bins)
  const [start, end] = [offsets[index]!, offsets[index + 1]!]
  return new Map(Array.from(weights.slice(start, end), (weight, i) => [first[index]! + i, weight] as const))
}

const close = (actual: number | undefined, expected: number, within: number) =>
  assert.ok(actual !== undefined && Math.abs(actual - expected) <= within, `${actual} is not ${expected}`)

describe('melFilters', () => {
  it('matches the published 80-bin filter bank', () => {
    assert.deepEqual([...row(80, 0).keys()], [1])
    close(row(80, 0).get(1), 0.02486259, 1e-8)
    assert.deepEqual(
      [...row(80, 79).keys()],
      Array.from({length: 14}, (_, i) => 186 + i),
    )
    close(row(80, 79).get(186), 0.00036674, 1e-8)
    close(
      melFilters(80).weights.reduce((sum, x) => sum + x, 0),
      1.999024,
      1e-5,
    )
  })

  it('matches the published 128-bin filter bank', () => {
    close(row(128, 0).get(1), 0.01237399, 1e-8)
    assert.deepEqual(
      [...row(128, 127).keys()],
      Array.from({length: 9}, (_, i) => 191 + i),
    )
    close(row(128, 127).get(191), 0.0004757, 1e-7)
    close(
      melFilters(128).weights.reduce((sum, x) => sum + x, 0),
      3.190986,
      1e-5,
    )
  })
})

describe('logMel', () => {
  const options = {bins: 80, frames: 3000}

  it('returns the minimum for silence', () => {
    assert.ok(logMel(new Float32Array(480_000), options).every((x) => x === -1.5))
    assert.ok(logMel(new Float32Array(), options).every((x) => x === -1.5))
  })

  it('returns the expected values for a tone followed by silence', () => {
    const mel = logMel(sine(440, 16_000), options)
    assert.equal(mel.length, 240_000)
    close(
      mel.reduce((a, b) => Math.max(a, b)),
      1.438204,
      1e-5,
    )
    close(mel.reduce((sum, x) => sum + x, 0) / mel.length, -0.557662, 1e-5)
    const known = [-0.5618, 1.15939, 1.34874, 1.4382, 1.29352, -0.5618, -0.5618]
    for (const [i, value] of known.entries()) close(mel[(8 + i) * 3000 + 50], value, 1e-4)
  })

  it('matches the reference implementation on a recording', {
    skip: skipWithout('whisper-reference/jfk.mel.f32'),
  }, async () => {
    const bytes = await readFile(sharedData('whisper-reference/jfk.mel.f32') ?? '')
    const expected = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
    const mel = logMel(await readClip(sharedData('clips/jfk.wav') ?? ''), options)
    assert.equal(mel.length, expected.length)
    for (const [i, value] of expected.entries()) assert.ok(Math.abs(mel[i]! - value) < 1e-4)
  })
})
