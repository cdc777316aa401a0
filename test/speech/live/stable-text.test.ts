import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {StableText} from '../../../src/speech/live/stable-text.js'

const heard = (text: string, certain = text) => ({text, certain})
const patient = {streamPartialQuietMs: 10_000, streamMaxWaitMs: 10_000}

describe('StableText', () => {
  it('makes words stable on which two successive hypotheses agree', () => {
    const stable = new StableText(patient)
    assert.deepEqual(stable.add(heard('ask'), 0), {text: 'ask', stable: ''})
    assert.deepEqual(stable.add(heard('ask not'), 100), {text: 'ask not', stable: 'ask'})
    assert.deepEqual(stable.add(heard('ask not what'), 200), {text: 'ask not what', stable: 'ask not'})
  })

  it('ignores case and punctuation when it compares', () => {
    const stable = new StableText(patient)
    stable.add(heard('Hello, world'), 0)
    assert.equal(stable.add(heard('hello world.'), 100).stable, 'hello world.')
  })

  it('never changes stable words, even if a later hypothesis does', () => {
    const stable = new StableText(patient)
    stable.add(heard('one two'), 0)
    assert.equal(stable.add(heard('one two three'), 100).stable, 'one two')
    for (const later of ['won too three four', 'nothing', ''])
      assert.ok(stable.add(heard(later), 200).text.startsWith('one two'), later)
  })

  it('does not make words stable by agreement before they are certain', () => {
    const stable = new StableText(patient)
    stable.add(heard('one two three', 'one'), 0)
    assert.equal(stable.add(heard('one two three', 'one two'), 100).stable, 'one two')
  })

  it('makes everything stable when nothing has changed for a while', () => {
    const stable = new StableText({streamPartialQuietMs: 350, streamMaxWaitMs: 10_000})
    stable.add(heard('one two', ''), 0)
    assert.equal(stable.settle(349).stable, '')
    assert.equal(stable.settle(350).stable, 'one two')
  })

  it('makes a word stable that has waited for too long, although hypotheses disagree', () => {
    const stable = new StableText({streamPartialQuietMs: 10_000, streamMaxWaitMs: 2500})
    for (const [i, text] of ['a', 'b', 'c', 'd'].entries()) assert.equal(stable.add(heard(text), 800 * i).stable, '')
    assert.equal(stable.add(heard('e f'), 3200).stable, 'e')
  })
})
