import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {cacheBytes, cacheShapeOf, keptBytes, SequenceCache, usableLength} from '../../src/llm/sequence-cache.js'
import {tinyConfig, tinyModel} from '../support/tiny-model.js'

const specOf = (changes: Partial<typeof tinyModel>) =>
  readDecoderSpec(tinyConfig({...tinyModel, ...changes}), 'config.json', () => false)

/** Layers 0, 2 and 3 have a short convolution, layer 1 has attention. */
const spec = specOf({family: 'lfm2', layers: 4})

/** Writes as a run does: the states are numbers of the sequence and its length. */
function run(cache: SequenceCache, slot: number, sequence: number, length: number): void {
  cache.reserve(slot, length)
  for (const {name, tensor} of cache.tensors(slot, 1))
    if (name.startsWith('state.')) (tensor.data as Float32Array).fill(1000 * sequence + length)
  cache.advance(slot, length)
}

/** What the states of a slot say. */
const statesOf = (cache: SequenceCache, slot: number): number[] => {
  const states = cache.tensors(slot, 1).filter(({name}) => name.startsWith('state.'))
  return [...new Set(states.flatMap(({tensor}) => [...(tensor.data as Float32Array)]))]
}

describe('the cache of a hybrid', () => {
  it('has keys and values of layers with attention and states of the others, by the numbers of the layers', () => {
    const cache = new SequenceCache(spec, 1024)
    run(cache, cache.add(), 1, 5)
    const tensors = cache.tensors(0, 1)
    assert.deepEqual(
      tensors.map(({name}) => name),
      ['key.1', 'value.1', 'state.0.inputs', 'state.2.inputs', 'state.3.inputs'],
    )
    assert.deepEqual(tensors[2]?.tensor.dims, [1, 2, tinyModel.hiddenSize])
  })

  it('counts states once, and keys and values by position', () => {
    const shape = cacheShapeOf(spec)
    const states = 3 * 2 * tinyModel.hiddenSize * 4
    const perPosition = 2 * tinyModel.kvHeads * tinyModel.headDim * 4
    assert.equal(cacheBytes(shape, 8192), states + 8192 * perPosition)
    assert.deepEqual([keptBytes(shape, 255), keptBytes(shape, 8192)], [0, 32 * states])
    assert.equal(keptBytes(cacheShapeOf(specOf({layers: 4})), 8192), 0, 'without recurrent layers')
    assert.ok(cacheBytes(shape, 8192) < 0.3 * cacheBytes(cacheShapeOf(specOf({layers: 4})), 8192))
  })

  it('starts every sequence with zeros, also in the memory of an earlier one', () => {
    const cache = new SequenceCache(spec, 1024)
    cache.add()
    run(cache, cache.add(), 1, 5)
    cache.pop()
    assert.deepEqual(statesOf(cache, cache.add()), [0])
  })

  it('moves and copies states with their sequences when it grows', () => {
    const cache = new SequenceCache(spec, 1024)
    for (const sequence of [0, 1, 2]) run(cache, cache.add(), sequence, 7)
    cache.copy(2, 0)
    assert.deepEqual(
      [0, 1, 2].map((slot) => statesOf(cache, slot)),
      [[2007], [1007], [2007]],
    )
    assert.deepEqual([cache.length(0), cache.usable(0, 7), cache.usable(0, 6)], [7, 7, 0])
  })

  it('returns to the states before a run with wrong positions', () => {
    const cache = new SequenceCache(spec, 1024)
    run(cache, cache.add(), 1, 10)
    cache.hold(0)
    run(cache, 0, 1, 14)
    cache.setLength(0, 12)
    cache.settle(0)
    assert.deepEqual([cache.length(0), statesOf(cache, 0)], [10, [1010]])
    run(cache, 0, 1, 13)
    cache.settle(0)
    assert.deepEqual([cache.length(0), statesOf(cache, 0)], [13, [1013]], 'right positions stay')
  })

  it('begins another sequence only where it has kept the states', () => {
    const cache = new SequenceCache(spec, 1024)
    run(cache, cache.add(), 1, 100)
    cache.keep(0, false)
    assert.equal(cache.usable(0, 99), 0, 'too few positions for a regular checkpoint')
    cache.keep(0, true)
    run(cache, 0, 1, 400)
    cache.keep(0, false)
    run(cache, 0, 1, 420)
    assert.deepEqual(
      [99, 100, 399, 400, 419, 420].map((most) => cache.usable(0, most)),
      [0, 100, 100, 400, 400, 420],
    )
    cache.copy(0, cache.add(), 400)
    assert.deepEqual([cache.length(1), statesOf(cache, 1), cache.usable(1, 399)], [400, [1400], 100])
  })

  it('restores a saved sequence at each of its checkpoints', () => {
    const cache = new SequenceCache(spec, 1024)
    run(cache, cache.add(), 1, 50)
    cache.keep(0, true)
    run(cache, 0, 1, 80)
    const saved = cache.save(0)
    assert.equal(saved.bytes, cache.bytesOf(0))
    assert.equal(saved.bytes, cacheBytes(cacheShapeOf(spec), 80) + 3 * 2 * tinyModel.hiddenSize * 4)
    run(cache, 0, 1, 90)
    assert.deepEqual(
      [49, 50, 79, 80, 200].map((most) => usableLength(saved, most)),
      [0, 50, 50, 80, 80],
    )
    for (const length of [50, 80]) {
      const other = new SequenceCache(spec, 1024)
      other.restore(other.add(), saved, length)
      assert.deepEqual([other.length(0), statesOf(other, 0)], [length, [1000 + length]])
    }
  })
})

describe('the cache of a decoder without recurrent layers', () => {
  it('can be cut at any position', () => {
    const cache = new SequenceCache(specOf({}), 1024)
    run(cache, cache.add(), 1, 50)
    cache.hold(0)
    cache.setLength(0, 33)
    cache.settle(0)
    assert.deepEqual([cache.length(0), cache.usable(0, 20), usableLength(cache.save(0), 7)], [33, 20, 7])
  })
})
