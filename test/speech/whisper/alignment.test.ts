import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {randomSource} from '../../../src/sampling/index.js'
import {alignTokens, medianFilter} from '../../../src/speech/whisper/align-tokens.js'
import {alignmentHeads} from '../../../src/speech/whisper/alignment-heads.js'
import {readWhisperConfig} from '../../../src/speech/whisper/config.js'
import {warpRows} from '../../../src/speech/whisper/dynamic-time-warping.js'
import {attachPunctuation, splitWords, trimAtSentenceEnds} from '../../../src/speech/whisper/words.js'
import {randomFloats} from '../../support/random-floats.js'
import {microShape, whisperConfig} from '../../support/whisper-weights.js'

/** A path that begins each row where it is said to, as a cost that is low on it. */
function costOf(begins: readonly number[], columns: number, noise = 0): Float32Array {
  const random = randomFloats(4)(begins.length * columns)
  return Float32Array.from({length: begins.length * columns}, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns]
    const onPath = column >= (begins[row] as number) && column < (begins[row + 1] ?? columns)
    return (onPath ? -1 : 1) + noise * random[i]!
  })
}

/** The cost of the cheapest path, by going through all of them. */
function cheapest(cost: Float32Array, rows: number, columns: number): number {
  const from = (row: number, column: number): number => {
    const here = cost[row * columns + column]!
    if (row === rows - 1 && column === columns - 1) return here
    const next: number[] = []
    if (row < rows - 1) next.push(from(row + 1, column))
    if (column < columns - 1) next.push(from(row, column + 1))
    if (row < rows - 1 && column < columns - 1) next.push(from(row + 1, column + 1))
    return here + Math.min(...next)
  }
  return from(0, 0)
}

describe('dynamic time warping', () => {
  it('finds the known path', () => {
    const begins = [0, 3, 4, 11, 18]
    assert.deepEqual([...warpRows(costOf(begins, 25), 5, 25)], begins)
    assert.deepEqual([...warpRows(costOf(begins, 25, 0.1), 5, 25)], begins)
  })

  it('finds a path of minimum cost', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const [rows, columns] = [4, 6]
      const cost = randomFloats(seed)(rows * columns)
      const begins = warpRows(cost, rows, columns)
      let best = Infinity
      // Only paths with these beginnings.
      const follow = (row: number, column: number, sum: number): void => {
        const total = sum + cost[row * columns + column]!
        if (row === rows - 1 && column === columns - 1) best = Math.min(best, total)
        if (column < columns - 1) follow(row, column + 1, total)
        if (row < rows - 1)
          for (const step of [0, 1])
            if (column + step === begins[row + 1] && column + step < columns) follow(row + 1, column + step, total)
      }
      follow(0, 0, 0)
      assert.ok(Math.abs(best - cheapest(cost, rows, columns)) < 1e-5)
    }
  })

  it('accepts a single column', () => {
    assert.deepEqual([...warpRows(Float32Array.of(1, 2, 3), 3, 1)], [0, 0, 0])
    assert.deepEqual([...warpRows(Float32Array.of(1, 2, 3), 1, 3)], [0])
  })
})

describe('token timings', () => {
  it('follow the alignment heads', () => {
    const begins = [0, 10, 25, 40]
    const [heads, tokens, positions] = [3, 6, 60]
    const uniform = randomSource(2)
    const weights = new Float32Array(heads * tokens * positions)
    for (let head = 0; head < heads; head++)
      for (let row = 0; row < tokens; row++)
        for (let i = 0; i < positions; i++) {
          const text = row - 1
          const heard = text >= 0 && i >= (begins[text] ?? Infinity) && i < (begins[text + 1] ?? 50)
          weights[(head * tokens + row) * positions + i] = (heard ? 0.08 : 0.002) * (0.8 + 0.4 * uniform())
        }
    const found = alignTokens({heads, tokens, positions, weights}, 1, 3, 50)
    assert.equal(found.length, 4)
    for (const [i, position] of found.entries()) assert.ok(Math.abs(position - begins[i]!) <= 2, `${[...found]}`)
  })

  it('are smoothed by a median', () => {
    assert.deepEqual([...medianFilter(Float32Array.of(0, 0, 0, 9, 0, 0, 0, 0))], [0, 0, 0, 0, 0, 0, 0, 0])
    assert.deepEqual([...medianFilter(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8))], [3, 3, 3, 4, 5, 6, 6, 6])
  })
})

/** A tokenizer whose tokens are given as bytes. */
const bytesOf = (tokens: readonly (string | Buffer)[]) => ({bytes: (id: number) => Buffer.from(tokens[id] ?? '')})

describe('words', () => {
  const split = (tokens: readonly (string | Buffer)[], language = 'en') =>
    splitWords(bytesOf(tokens), [...tokens.keys()], language).map(({word, tokens: count}) => [word, count])

  it('start at spaces and punctuation, and contain all tokens', () => {
    assert.deepEqual(split([' Hel', 'lo', ',', ' wor', 'ld', '!']), [
      [' Hello', 2],
      [',', 1],
      [' world', 2],
      ['!', 1],
    ])
  })

  it('are characters in languages without spaces, even if tokens split them', () => {
    const bytes = Buffer.from('你好')
    assert.deepEqual(split([bytes.subarray(0, 2), bytes.subarray(2, 4), bytes.subarray(4)], 'zh'), [['你好', 3]])
    assert.deepEqual(split([bytes.subarray(0, 2), bytes.subarray(2, 3), bytes.subarray(3)], 'zh'), [
      ['你', 2],
      ['好', 1],
    ])
  })

  const word = (text: string, startSec: number, endSec: number) => ({word: text, startSec, endSec, probability: 1})

  it('include adjacent punctuation', () => {
    const words = [word(' "', 0, 0.1), word('Hi', 0.1, 0.5), word('!', 0.5, 0.6), word(' there', 0.6, 1)]
    assert.deepEqual(
      attachPunctuation(words).map((one) => one.word),
      [' "Hi!', ' there'],
    )
  })

  it('do not include the pause after a sentence', () => {
    const words = [word(' a', 0, 0.3), word(' b', 0.3, 0.6), word('.', 0.6, 4), word(' c', 4, 4.3)]
    const trimmed = trimAtSentenceEnds(words)
    assert.ok((trimmed[2]?.endSec ?? 9) < 1.3)
    assert.deepEqual(trimmed[3], words[3])
  })
})

describe('alignment heads', () => {
  const config = (layers: number, heads: number, changes: object = {}) =>
    readWhisperConfig({...whisperConfig({...microShape, size: 64 * heads, layers, heads}), ...changes}, 'config.json')

  it('are those of the published models', () => {
    assert.deepEqual(alignmentHeads(config(4, 6), {}, true), [
      [2, 2],
      [3, 0],
      [3, 2],
      [3, 3],
      [3, 4],
      [3, 5],
    ])
    assert.equal(alignmentHeads(config(4, 6), {}, false).length, 8)
    assert.deepEqual(alignmentHeads(config(32, 20, {decoder_layers: 4, num_mel_bins: 128}), {}, true)[0], [2, 4])
  })

  it('are those in the model configuration', () => {
    const heads = [[1, 2]]
    assert.deepEqual(alignmentHeads(config(4, 6), {alignment_heads: heads}, true), heads)
  })

  it('are those of the upper half of the layers in an unknown model', () => {
    assert.deepEqual(alignmentHeads(config(3, 2), {}, true), [
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
    ])
  })
})
