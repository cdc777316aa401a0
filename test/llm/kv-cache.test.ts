import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {bucketFor, KvCache, minBucket} from '../../src/llm/kv-cache.js'

const layers = [
  {kvHeads: 2, headDim: 4},
  {kvHeads: 3, headDim: 2},
]

/** A unique value for each position in the cache. */
const mark = (sequence: number, layer: number, head: number, position: number, which: 'key' | 'value') =>
  (((sequence * 10 + layer) * 10 + head) * 1000 + position) * 2 + (which === 'key' ? 0 : 1)

/** Visits each number of a slot in memory order: head, position, element. */
function visit(
  cache: KvCache,
  slot: number,
  of: (data: Float32Array, at: number, value: (s: number) => number) => void,
) {
  for (const [layer, tensors] of cache.tensors(slot, 1).entries())
    for (const which of ['key', 'value'] as const) {
      const {kvHeads, headDim} = layers[layer] as (typeof layers)[number]
      const {data, dims} = tensors[which]
      assert.deepEqual(dims, [1, kvHeads, cache.capacity, headDim])
      for (let head = 0; head < kvHeads; head++)
        for (let position = 0; position < cache.length(slot); position++)
          for (let i = 0; i < headDim; i++)
            of(data as Float32Array, (head * cache.capacity + position) * headDim + i, (sequence) =>
              mark(sequence, layer, head, position, which),
            )
    }
}

/** Simulates a graph run: grows the cache, writes every position, advances the length. */
function write(cache: KvCache, slot: number, sequence: number, length: number): void {
  cache.reserve(slot, length)
  cache.setLength(slot, length)
  visit(cache, slot, (data, at, value) => {
    data[at] = value(sequence)
  })
}

function assertHolds(cache: KvCache, slot: number, sequence: number, length: number): void {
  assert.equal(cache.length(slot), length)
  visit(cache, slot, (data, at, value) => assert.equal(data[at], value(sequence)))
}

/** A cache with sequences of these lengths, marked with their index. */
function cacheOf(...lengths: number[]): KvCache {
  const cache = new KvCache(layers, 4096)
  for (const [sequence, length] of lengths.entries()) write(cache, cache.add(), sequence, length)
  return cache
}

describe('KvCache capacity', () => {
  const buckets: readonly [length: number, context: number, capacity: number][] = [
    [0, 8192, 256],
    [1, 8192, 256],
    [256, 8192, 256],
    [257, 8192, 512],
    [512, 8192, 512],
    [513, 8192, 1024],
    [8192, 8192, 8192],
    [600, 1000, 1000],
    [1000, 1000, 1000],
    [5, 40, 40],
    [40, 40, 40],
  ]
  for (const [length, context, capacity] of buckets)
    it(`is ${capacity} for ${length} positions with a context of ${context}`, () =>
      assert.equal(bucketFor(length, context), capacity))

  it('starts at 0, follows the longest sequence and returns to 0 with the last one', () => {
    const cache = new KvCache(layers, 4096)
    assert.deepEqual([cache.size, cache.capacity], [0, 0])
    write(cache, cache.add(), 0, 10)
    assert.equal(cache.capacity, minBucket)
    write(cache, cache.add(), 1, 300)
    assert.equal(cache.capacity, 512)
    write(cache, cache.add(), 2, 20)
    assert.equal(cache.capacity, 512, 'a short sequence does not shrink it')
    cache.pop()
    cache.pop()
    assert.deepEqual([cache.size, cache.capacity], [1, 512])
    cache.pop()
    assert.deepEqual([cache.size, cache.capacity], [0, 0])
    write(cache, cache.add(), 3, 10)
    assert.equal(cache.capacity, minBucket)
    assertHolds(cache, 0, 3, 10)
  })
})

describe('KvCache with several sequences', () => {
  it('stores them separately', () => {
    const cache = cacheOf(5, 256, 1)
    assertHolds(cache, 0, 0, 5)
    assertHolds(cache, 1, 1, 256)
    assertHolds(cache, 2, 2, 1)
  })

  it('preserves their contents when one grows by several buckets', () => {
    const cache = cacheOf(200, 256, 7)
    write(cache, 1, 1, 1500)
    assert.equal(cache.capacity, 2048)
    assertHolds(cache, 0, 0, 200)
    assertHolds(cache, 1, 1, 1500)
    assertHolds(cache, 2, 2, 7)
  })

  it('preserves their contents when a new one needs a larger bucket', () => {
    const cache = cacheOf(200, 30)
    write(cache, cache.add(), 2, 700)
    assertHolds(cache, 0, 0, 200)
    assertHolds(cache, 1, 1, 30)
    assertHolds(cache, 2, 2, 700)
  })

  it('preserves their contents when other slots are empty', () => {
    const cache = cacheOf(100)
    cache.add()
    cache.add()
    write(cache, 1, 1, 50)
    write(cache, 2, 2, 400)
    assertHolds(cache, 0, 0, 100)
    assertHolds(cache, 1, 1, 50)
    assertHolds(cache, 2, 2, 400)
  })
})

describe('KvCache after a sequence ends', () => {
  it('copies the last one to its slot, where it continues to grow', () => {
    const cache = cacheOf(100, 120, 140)
    cache.copy(2, 0)
    cache.pop()
    assert.equal(cache.size, 2)
    assertHolds(cache, 0, 2, 140)
    assertHolds(cache, 1, 1, 120)
    write(cache, 0, 2, 300)
    assertHolds(cache, 0, 2, 300)
    assertHolds(cache, 1, 1, 120)
  })

  it('reuses the slot for a new one without its old contents', () => {
    const cache = cacheOf(100, 120)
    cache.pop()
    const slot = cache.add()
    assert.deepEqual([slot, cache.length(slot)], [1, 0])
    write(cache, slot, 7, 3)
    assertHolds(cache, slot, 7, 3)
    assertHolds(cache, 0, 0, 100)
  })

  it('copies a sequence whose slot is empty', () => {
    const cache = cacheOf(100)
    cache.add()
    cache.copy(1, 0)
    cache.pop()
    assert.deepEqual([cache.size, cache.length(0)], [1, 0])
    write(cache, 0, 4, 10)
    assertHolds(cache, 0, 4, 10)
  })

  it('copies the beginning of a sequence to a slot without memory', () => {
    const cache = cacheOf(100, 300)
    cache.copy(1, cache.add(), 270)
    assertHolds(cache, 0, 0, 100)
    assertHolds(cache, 1, 1, 300)
    assertHolds(cache, 2, 1, 270)
  })

  it('does nothing when a sequence is copied to its own slot', () => {
    const cache = cacheOf(3, 4)
    cache.copy(1, 1)
    assertHolds(cache, 0, 0, 3)
    assertHolds(cache, 1, 1, 4)
  })
})

describe('KvCache tensors', () => {
  it('share the memory of the slots', () => {
    const cache = cacheOf(4, 4, 4)
    const both = cache.tensors(1, 2)[0]?.key.data as Float32Array
    const second = cache.tensors(2, 1)[0]?.key.data as Float32Array
    const size = 2 * cache.capacity * 4
    assert.deepEqual([both.length, second.length], [2 * size, size])
    both[size + 3] = 42
    assert.equal(second[3], 42)
    second[5] = 43
    assert.equal(both[size + 5], 43)
    assert.equal(both.buffer, second.buffer)
  })

  it('use the new memory after the cache has grown', () => {
    const cache = cacheOf(4)
    const before = cache.tensors(0, 1)
    assert.equal(cache.tensors(0, 1), before, 'and are made once while it does not grow')
    cache.reserve(0, minBucket)
    assert.equal(cache.tensors(0, 1), before)
    cache.reserve(0, minBucket + 1)
    assert.deepEqual(cache.tensors(0, 1)[0]?.key.dims, [1, 2, 512, 4])
    assertHolds(cache, 0, 0, 4)
  })

  it('have one row per requested slot', () => {
    const cache = cacheOf(1, 2, 3)
    assert.deepEqual(
      cache.tensors(0, 3).map(({value}) => value.dims),
      [
        [3, 2, 256, 4],
        [3, 3, 256, 2],
      ],
    )
  })
})
