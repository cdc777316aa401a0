import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {editDistance, totalEdits} from '../../../src/speech/evaluation/edit-distance.js'
import {characterErrorRate, symbolErrorRate, wordErrorRate} from '../../../src/speech/evaluation/error-rate.js'
import {randomFloats} from '../../support/random-floats.js'

describe('the word error rate', () => {
  const cases: readonly [string, string, string, number][] = [
    ['counts a wrong word', 'hello world', 'hello there', 0.5],
    ['is 0 where nothing was said and nothing heard', '   ', '', 0],
    ['is 1 where nothing was said and something heard', '', 'hello world', 1],
    ['is 1 where nothing was heard', 'hello world', '', 1],
    ['may exceed 1', 'hello', 'oh well no', 3],
    ['takes capitals for the same', 'Hello World', 'hello world', 0],
    ['takes marks for a part of the word', 'hello, world', 'hello world', 0.5],
  ]
  for (const [title, reference, hypothesis, rate] of cases)
    it(title, () => {
      assert.equal(wordErrorRate(reference, hypothesis).rate, rate)
    })

  it('counts substitutions, insertions and deletions', () => {
    assert.deepEqual(wordErrorRate('a b c d', 'a x c d e'), {
      substitutions: 1,
      insertions: 1,
      deletions: 0,
      errors: 2,
      length: 4,
      rate: 0.5,
    })
    assert.equal(wordErrorRate('a b c', 'a c').deletions, 1)
  })
})

describe('the character error rate', () => {
  const cases: readonly [string, string, string, number][] = [
    ['does not count blanks', 'a b', 'ab', 0],
    ['counts a wrong character', 'ab', 'ac', 0.5],
    ['tells capitals apart', 'ab', 'aB', 0.5],
    ['counts code points, not halves of them', '😀a', '😁a', 0.5],
    ['is 1 where nothing was said and something heard', ' ', 'abc', 1],
  ]
  for (const [title, reference, hypothesis, rate] of cases)
    it(title, () => {
      assert.equal(characterErrorRate(reference, hypothesis).rate, rate)
    })
})

describe('the symbol error rate', () => {
  it('counts only words that could be identifiers', () => {
    assert.equal(symbolErrorRate('call get_user (now) 2', 'call getUser now! 3').rate, 0.5)
    assert.equal(symbolErrorRate('1 2 3', '4').rate, 0)
  })
})

/** The table of Wagner and Fischer as it is in the paper, edits alone. */
function plainDistance(a: readonly number[], b: readonly number[]): number {
  const table = [Array.from({length: b.length + 1}, (_, j) => j)]
  for (const [i, x] of a.entries()) {
    const above = table[i] as number[]
    const row = [i + 1]
    for (const [j, y] of b.entries())
      row.push(Math.min((above[j] as number) + (x === y ? 0 : 1), (above[j + 1] as number) + 1, (row[j] as number) + 1))
    table.push(row)
  }
  return table[a.length]?.[b.length] as number
}

describe('edits', () => {
  const cases: readonly [string, string, [number, number, number]][] = [
    ['', '', [0, 0, 0]],
    ['', 'abc', [0, 3, 0]],
    ['abc', '', [0, 0, 3]],
    ['kitten', 'sitting', [2, 1, 0]],
    // Two edits either way, which are reported as substitutions.
    ['ab', 'ba', [2, 0, 0]],
  ]
  for (const [from, to, [substitutions, insertions, deletions]] of cases)
    it(`of "${from}" to "${to}" are ${substitutions}, ${insertions}, ${deletions}`, () => {
      assert.deepEqual(editDistance([...from], [...to]), {substitutions, insertions, deletions})
    })

  it('are minimal for similar and for different texts', () => {
    const random = randomFloats(11)
    for (const [length, other, letters] of [
      [5, 9, 2],
      [60, 55, 3],
      [120, 130, 40],
      [200, 20, 5],
      [33, 300, 7],
    ] as const) {
      const draw = (count: number) => [...random(count)].map((x) => Math.floor(1000 * Math.abs(x)) % letters)
      const [a, b] = [draw(length), draw(other)]
      const edits = editDistance(a, b)
      assert.equal(totalEdits(edits), plainDistance(a, b))
      assert.equal(edits.deletions - edits.insertions, length - other)
    }
  })

  it('of a book with a few errors need a table much smaller than the square of its length', () => {
    const book = Array.from({length: 200_000}, (_, i) => (i * i) % 251)
    const heard = book.filter((_, i) => i % 20_000 !== 7).map((word, i) => (i % 50_000 === 11 ? -1 : word))
    assert.deepEqual(editDistance(book, heard), {substitutions: 4, insertions: 0, deletions: 10})
  })
})
