import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createRandom} from '../../src/prove/faults/random.js'

const draw = (seed: number, count: number) => {
  const random = createRandom(seed)
  return Array.from({length: count}, () => random.next())
}

describe('createRandom', () => {
  it('generates the SplitMix64 sequence', () => {
    const published = [6457827717110365317n, 3203168211198807973n, 9817491932198370423n]
    assert.deepEqual(
      draw(1234567, 3),
      published.map((value) => Number(value >> 11n) / 2 ** 53),
    )
  })

  it('depends only on the seed', () => {
    assert.deepEqual(draw(7, 50), draw(7, 50))
    assert.equal(draw(7, 50).filter((value, i) => value === draw(8, 50)[i]).length, 0)
  })

  it('forks streams that do not depend on earlier draws', () => {
    const [first, second] = [createRandom(3), createRandom(3)]
    second.next()
    assert.equal(first.fork('sender').next(), second.fork('sender').next())
    assert.notEqual(first.fork('sender').next(), first.fork('receiver').next())
  })

  it('includes both ends of an integer range', () => {
    const random = createRandom(5)
    const seen = new Set(Array.from({length: 300}, () => random.integer(2, 5)))
    assert.deepEqual([...seen].sort(), [2, 3, 4, 5])
  })

  it('picks keys in proportion to their weights', () => {
    const random = createRandom(9)
    const counts = {often: 0, seldom: 0, never: 0}
    for (let i = 0; i < 4000; i++) counts[random.weighted({often: 3, seldom: 1, never: 0})]++
    assert.equal(counts.never, 0)
    assert.ok(Math.abs(counts.often / counts.seldom - 3) < 0.4, JSON.stringify(counts))
  })

  it('shuffles without losing items', () => {
    const items = Array.from({length: 20}, (_, i) => i)
    const shuffled = createRandom(2).shuffle(items)
    assert.notDeepEqual(shuffled, items)
    assert.deepEqual(
      shuffled.toSorted((a, b) => a - b),
      items,
    )
  })
})
