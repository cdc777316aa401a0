import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  floatToHalf,
  halfToFloat,
  quantizeBlocks,
  quantizeColumns,
  quantizeNibbles,
  widenFloats,
} from '../../src/weights/index.js'
import {randomFloats} from '../support/random-floats.js'
import {floatBytes} from '../support/safetensors-file.js'

describe('8-bit quantisation', () => {
  const [out, input] = [5, 70]
  const weight = randomFloats(1)(out * input)
  weight.fill(0, 2 * input, 3 * input)

  it('is accurate to half a step with one scale per output, in the layout [in, out]', () => {
    const values = new Int8Array(out * input)
    const scales = new Float32Array(out)
    for (const [first, rows] of [
      [3, 2],
      [0, 3],
    ] as const)
      quantizeColumns(weight.subarray(first * input, (first + rows) * input), input, first, 127, {values, scales})
    for (let row = 0; row < out; row++) {
      const largest = Math.max(...weight.subarray(row * input, (row + 1) * input).map(Math.abs))
      assert.ok(Math.abs(scales[row]! - largest / 127) < 1e-7)
      for (let i = 0; i < input; i++)
        assert.ok(Math.abs(values[i * out + row]! * scales[row]! - weight[row * input + i]!) <= scales[row]! / 2 + 1e-7)
    }
  })

  it('is accurate to half a step with one scale per block, padded with zeros', () => {
    const {values, scales} = quantizeBlocks(weight, input)
    assert.deepEqual([values.length, scales.length], [out * 3 * 32, out * 3])
    for (let row = 0; row < out; row++)
      for (let i = 0; i < 96; i++) {
        const scale = scales[row * 3 + (i >> 5)]!
        const value = (values[row * 96 + i]! - 128) * scale
        assert.ok(Math.abs(value - (i < input ? weight[row * input + i]! : 0)) <= scale / 2 + 1e-7)
      }
  })

  it('with 4 bits keeps the largest value of a block exactly, and the others to half a step', () => {
    const {values, scales} = quantizeNibbles(weight, input)
    assert.deepEqual([values.length, scales.length], [out * 3 * 16, out * 3])
    for (let row = 0; row < out; row++)
      for (let i = 0; i < 96; i++) {
        const scale = scales[row * 3 + (i >> 5)]!
        const byte = values[(row * 96 + i) >> 1]!
        const value = ((i % 2 === 0 ? byte & 15 : byte >> 4) - 8) * scale
        const exact = i < input ? weight[row * input + i]! : 0
        if (Math.abs(Math.abs(exact) - 8 * Math.abs(scale)) < 1e-7 && exact / scale < 0) assert.ok(value - exact < 1e-6)
        // The range is -8 to 7: a value near the positive end is up to one step away.
        else assert.ok(Math.abs(value - exact) <= Math.abs(scale) * (exact / scale > 7 ? 1 : 0.5) + 1e-6)
      }
  })
})

describe('16-bit floats', () => {
  it('round-trip for every value', () => {
    for (let bits = 0; bits < 1 << 16; bits++) {
      const value = halfToFloat(bits)
      if (Number.isNaN(value)) assert.ok(Number.isNaN(halfToFloat(floatToHalf(value))))
      else assert.equal(floatToHalf(value), bits)
    }
  })

  it('are rounded to nearest, ties to even', () => {
    for (const [value, half] of [
      [1 + 2 ** -11, 0x3c00],
      [1 + 3 * 2 ** -11, 0x3c02],
      [1 + 2 ** -11 + 2 ** -20, 0x3c01],
      [65_519, 0x7bff],
      [65_520, 0x7c00],
      [1e10, 0x7c00],
      [2 ** -25, 0],
      [2 ** -25 * 1.5, 1],
      [-0, 0x8000],
      [-Infinity, 0xfc00],
    ] as const)
      assert.equal(floatToHalf(value), half, String(value))
  })

  it('are read in the byte order of files', () => {
    const values = Float32Array.of(0.5, -2, 1024, 2 ** -14)
    const read = new Float32Array(4)
    widenFloats(floatBytes(values, 'F16'), 'F16', read)
    assert.deepEqual(read, values)
  })
})
