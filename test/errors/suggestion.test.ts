import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {nearest} from '../../src/errors/index.js'
import {didYouMean} from '../../src/errors/suggestion.js'

const words = ['threads', 'temperature', 'top-k', 'top-p', 'model', 'num-ctx', 'advertise_gpu']

describe('a mistyped word', () => {
  const cases: [word: string, meant: string | undefined, why: string][] = [
    ['thread', 'threads', 'a letter is missing'],
    ['threads', 'threads', 'it is right'],
    ['htreads', 'threads', 'two letters changed places'],
    ['modell', 'model', 'a letter is doubled'],
    ['temprtre', undefined, 'three edits are too many for eight letters'],
    ['tempratur', 'temperature', 'two edits'],
    ['advertisedgpus', 'advertise_gpu', 'a long word may be further away'],
    ['top-x', 'top-k', 'two candidates are as near, so the first one counts'],
    ['banana', undefined, 'nothing is near'],
    ['', undefined, 'it is empty'],
    ['m', undefined, 'one letter could be anything'],
  ]
  for (const [word, meant, why] of cases)
    it(`"${word}" ${meant === undefined ? 'gets no suggestion' : `suggests ${meant}`}: ${why}`, () => {
      assert.equal(nearest(word, words), meant)
    })

  it('of two letters suggests a word one edit away, none two edits away', () => {
    assert.equal(nearest('ai', ['db', 'lsp']), undefined)
    assert.equal(nearest('bd', ['db', 'lsp']), undefined)
    assert.equal(nearest('lp', ['db', 'lsp']), 'lsp')
  })

  it('gets no suggestion when there is nothing to choose from', () => {
    assert.equal(nearest('threads', []), undefined)
  })
})

describe('the end of a sentence', () => {
  it('asks whether the nearest word was meant', () => {
    assert.equal(`Unknown flag --thread.${didYouMean('--threads')}`, 'Unknown flag --thread. Did you mean --threads?')
  })

  it('is empty without a near word', () => {
    assert.equal(didYouMean(undefined), '')
  })
})
