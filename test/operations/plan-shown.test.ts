import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type JudgedPlanStatus, presentStatus} from '../../src/operations/plan-shown.js'

const present = (description: string) => {
  const step = {node_id: 'n1', status: 'pending', description, test_decision: 'skip', attempts: 0}
  const plan = {
    session_id: 's',
    status: 'running',
    latest_version: 2,
    steps: [step],
    step_counts: {completed: 0, failed: 0},
    socrates: {reason: 'no_evidence_context'},
  }
  return presentStatus(plan as unknown as JudgedPlanStatus)
}

describe('presentStatus of a plan', () => {
  it('keeps descriptions of up to 200 characters', () => {
    assert.equal(present('x'.repeat(200)).nodes[0]?.description, 'x'.repeat(200))
  })

  it('truncates longer descriptions to 200 characters including the ellipsis', () => {
    assert.equal(present('x'.repeat(201)).nodes[0]?.description, `${'x'.repeat(199)}…`)
  })

  it('sets unknown members of a step to null', () => {
    assert.deepEqual(present('a step'), {
      session_id: 's',
      status: 'running',
      source: 'database',
      plan_version: 2,
      nodes: [
        {
          node_id: 'n1',
          status: 'pending',
          description: 'a step',
          workflow: null,
          test_decision: 'skip',
          task_id: null,
          attempts_count: 0,
          last_outcome: null,
          last_error: null,
          held_reason: null,
        },
      ],
      progress: {total: 1, completed: 0, failed: 0},
      socrates: {reason: 'no_evidence_context'},
    })
  })
})
