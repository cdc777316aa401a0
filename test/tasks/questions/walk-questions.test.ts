import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {walkQuestions, walkSettings} from './walk-questions.js'

describe('random actions of persons and agents with little attention', () => {
  it('lose no task and apply no answer twice', async (t) => {
    const counts = new Map<string, number>()
    for (let seed = 1; seed <= 8; seed++) {
      const orchestrator = await openTestOrchestrator(t, {toml: walkSettings})
      const report = await walkQuestions(orchestrator, {seed, steps: 150})
      assert.deepEqual(report.faults, [])
      for (const [key, count] of Object.entries(report.counts)) counts.set(key, (counts.get(key) ?? 0) + count)
      orchestrator.close()
    }
    // The walks reach the states that matter.
    for (const result of [
      'answer: done',
      'answer again: question_answered',
      'submit as an agent: attention_exhausted',
      'submit as an agent: stopped',
      'ask as an agent: question_refused',
      'approve as an agent: approval_blocked',
      'approve as a person: question_pending',
      'close: done',
    ])
      assert.ok((counts.get(result) ?? 0) > 0, `${result} never happened`)
  })
})
