import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {projectFile, skipWithout} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'
import {digitsOf, hear, samplesOf, wordErrorRate} from './word-error-rate.js'

describe('the starter speech model, on the complete evaluation data', () => {
  for (const [name, most] of [
    ['known-voices', 0.08],
    ['unseen-voice', 0.25],
  ] as const)
    it(`has a word error rate of at most ${100 * most} % on ${name}`, async (test) => {
      const samples = await samplesOf(projectFile(`examples/train-starter/eval/${name}.jsonl`))
      assert.equal(samples.length, 100)
      assert.ok(wordErrorRate(await hear(samples, await temporaryFolder(test))) <= most)
    })

  it('has a word error rate of at most 20 % on the digits of a held-out real speaker', {
    skip: skipWithout('fsdd'),
  }, async (test) => {
    const samples = await digitsOf(/_jackson_1?\d\.wav$/)
    assert.ok(samples.length >= 100)
    assert.ok(wordErrorRate(await hear(samples, await temporaryFolder(test))) <= 0.2)
  })
})
