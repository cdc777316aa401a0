import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {nearest} from '../../src/errors/index.js'
import {didYouMean} from '../../src/errors/suggestion.js'

const words = ['threads', 'temperature', 'top-k', 'top-p', 'model', 'num-ctx', 'advertise_gpu']

describe('nearest', () => {
  const cases: [word: string, expected: string | undefined, why: string][] = [
    ['thread', 'threads', 'a letter is missing'],
    ['threads', 'threads', 'it is correct'],
    ['htreads', 'threads', 'two letters are swapped'],
    ['modell', 'model', 'a letter is doubled'],
    ['temprtre', undefined, 'three edits are too many for eight letters'],
    ['tempratur', 'temperature', 'two edits'],
    ['advertisedgpus', 'advertise_gpu', 'a long word may have more edits'],
    ['top-x', 'top-k', 'of two equally similar candidates the first one wins'],
    ['banana', undefined, 'nothing is similar'],
    ['', undefined, 'it is empty'],
    ['m', undefined, 'one letter could be anything'],
  ]
  for (const [word, expected, why] of cases)
    it(`suggests ${expected ?? 'nothing'} for "${word}": ${why}`, () => {
      assert.equal(nearest(word, words), expected)
    })

  it('allows one edit in a word of two letters', () => {
    assert.equal(nearest('ai', ['db', 'lsp']), undefined)
    assert.equal(nearest('bd', ['db', 'lsp']), undefined)
    assert.equal(nearest('lp', ['db', 'lsp']), 'lsp')
  })

  it('suggests nothing without candidates', () => {
    assert.equal(nearest('threads', []), undefined)
  })
})

describe('didYouMean', () => {
  it('asks whether the suggestion was meant', () => {
    assert.equal(`Unknown flag --thread.${didYouMean('--threads')}`, 'Unknown flag --thread. Did you mean --threads?')
  })

  it('is empty without a suggestion', () => {
    assert.equal(didYouMean(undefined), '')
  })
})
