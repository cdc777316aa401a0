import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {heldOutQuestions} from '../support/guide.js'
import {testAnswers, testMerged} from './guide-answers.js'

describe('the guide, asked everything that it has never learnt from', async () => {
  const questions = await heldOutQuestions()

  it('answers nine of ten questions, and hardly one without its adapter', async (test) => {
    assert.equal(questions.length, 60)
    await testAnswers(test, questions)
  })

  it('answers the same when its adapter is merged', (test) => testMerged(test, questions))
})
