import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Blocks} from '../../../src/speech/live/blocks.js'
import {seeded} from '../../support/random.js'

const blockSize = 800
const audio = Float32Array.from({length: 5 * blockSize + 123}, (_, i) => i)

/** The ends of the blocks when audio arrives in pieces. */
function endsOf(blocks: Blocks, start: number, pieces: readonly Float32Array[]): number[] {
  let at = start
  return pieces.flatMap((piece) => [...blocks.add(piece)]).map(({length}) => (at += length))
}

describe('the blocks of live audio', () => {
  it('end at the same positions however the audio arrives', () => {
    const {below} = seeded(3)
    for (const start of [0, 1, blockSize - 1, blockSize, 12_345])
      for (let round = 0; round < 20; round++) {
        const pieces: Float32Array[] = []
        for (let at = 0; at < audio.length; at += pieces.at(-1)?.length ?? 0)
          pieces.push(audio.subarray(at, at + 1 + below(2 * blockSize)))
        const ends = endsOf(new Blocks(start), start, pieces)
        assert.deepEqual(ends, endsOf(new Blocks(start), start, [audio]))
        assert.ok(ends.every((end) => end % blockSize === 0))
      }
  })

  it('contain all audio in order, the rest included', () => {
    const blocks = new Blocks(7)
    const all = [...blocks.add(audio.subarray(0, 1000)), ...blocks.add(audio.subarray(1000)), ...blocks.takeRest()]
    assert.deepEqual(
      all.flatMap((block) => [...block]),
      [...audio],
    )
  })

  it('continue after a rest up to the next multiple', () => {
    const blocks = new Blocks(0)
    assert.deepEqual([...blocks.add(audio.subarray(0, 300))], [])
    assert.equal(blocks.takeRest()[0]?.length, 300)
    assert.deepEqual(blocks.takeRest(), [])
    assert.deepEqual(
      [...blocks.add(audio)].map(({length}) => length),
      [500, ...Array.from({length: 4}, () => 800)],
    )
  })
})
