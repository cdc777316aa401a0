import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {randomSource} from '../../../src/sampling/index.js'
import {acousticBound} from '../../../src/speech/constraints/preferred-reading.js'
import type {Alternative} from '../../../src/speech/model/model.js'
import {CombinedAlternatives, type ReadWindow} from '../../../src/speech/transcribe/combine-alternatives.js'

/** A window with these texts and log-probabilities, the selected one first. */
const windowOf = (...alternatives: readonly (readonly [text: string, score: number])[]): ReadWindow => ({
  text: ` ${alternatives[0]?.[0]}`,
  alternatives: alternatives.map(([text, score]) => ({text, score})),
})

function combineAlternatives(windows: readonly ReadWindow[], count: number): Alternative[] {
  const alternatives = new CombinedAlternatives(count)
  for (const window of windows) alternatives.add(window)
  return alternatives.list()
}

const texts = (windows: readonly ReadWindow[], count: number) =>
  combineAlternatives(windows, count).map(({text}) => text)

describe('the alternatives of a recording', () => {
  it('replace the most uncertain window first', () => {
    const windows = [windowOf(['a', -1], ['b', -2.5]), windowOf(['c', -1], ['d', -1.2]), windowOf(['e', -1], ['f', -2])]
    assert.deepEqual(texts(windows, 5), ['a c e', 'a d e', 'a c f', 'a d f', 'b c e'])
  })

  it('contain no part that is much less likely than the best one of its window', () => {
    assert.deepEqual(texts([windowOf(['a', -1], ['b', -1 - 1.01 * acousticBound])], 5), ['a'])
    assert.deepEqual(texts([windowOf(['a', -1], ['b', -1 - 0.99 * acousticBound])], 5), ['a', 'b'])
    // A preferred phrase selected a less likely one.
    assert.deepEqual(texts([windowOf(['a', -3], ['b', -1], ['c', -4.1])], 5), ['a', 'b'])
  })

  it('contain the text of a window without alternatives, or with a text that is not one of them', () => {
    const plain: ReadWindow = {text: ' plain', alternatives: []}
    const cut: ReadWindow = {
      text: ' begin',
      alternatives: [
        {text: 'begin end', score: -1},
        {text: 'x', score: -1},
      ],
    }
    const silent: ReadWindow = {text: '', alternatives: []}
    assert.deepEqual(texts([plain, silent, windowOf(['a', -1], ['b', -1]), cut], 3), ['plain a begin', 'plain b begin'])
  })

  it('are none unless more than one is requested, or there is no text', () => {
    assert.deepEqual(texts([windowOf(['a', -1], ['b', -1])], 1), [])
    assert.deepEqual(texts([], 3), [])
    assert.deepEqual(texts([{text: '', alternatives: []}], 3), [])
  })

  it('are the best of all combinations', () => {
    const random = randomSource(3)
    for (let round = 0; round < 100; round++) {
      const windows = Array.from({length: 1 + Math.floor(5 * random())}, (_, w) =>
        windowOf(
          ...Array.from({length: 1 + Math.floor(4 * random())}, (_, i) => [`${w}.${i}`, -3 * random()] as const),
        ),
      )
      const count = 2 + Math.floor(6 * random())
      const found = combineAlternatives(windows, count)
      const all = everyCombination(windows)
      const [selected, ...others] = all
      const least = (selected?.score ?? 0) - acousticBound
      const best = others.filter(({score}) => score >= least).sort((a, b) => b.score - a.score)
      assert.deepEqual(
        found.map(({text}) => text),
        [selected, ...best].slice(0, count).map((one) => one?.text),
      )
    }
  })

  it('of a long recording are found in a moment', () => {
    const windows = Array.from({length: 2000}, () => windowOf(['a', -1], ['b', -1.1], ['c', -1.2], ['d', -1.3]))
    const found = combineAlternatives(windows, 10)
    assert.equal(found.length, 10)
    assert.ok(found.every(({text}) => text.length === 3999))
  })
})

/** All combinations, that of the selected texts first. */
const everyCombination = (windows: readonly ReadWindow[]): Alternative[] =>
  windows.reduce<Alternative[]>(
    (found, {alternatives}) =>
      found.flatMap((before) =>
        alternatives.map(({text, score}) => ({text: `${before.text} ${text}`.trim(), score: before.score + score})),
      ),
    [{text: '', score: 0}],
  )
