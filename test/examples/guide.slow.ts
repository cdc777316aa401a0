import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {heldOutQuestions} from '../support/guide.js'
import {testAnswers, testMerged} from './guide-answers.js'

describe('the guide, with all held-out questions', async () => {
  const questions = await heldOutQuestions()

  it('answers nine of ten questions, and at most two without its adapter', async (test) => {
    assert.equal(questions.length, 60)
    await testAnswers(test, questions)
  })

  it('gives the same answers when its adapter is merged', (test) => testMerged(test, questions))
})
