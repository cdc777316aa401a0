import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {presentStatus} from '../../src/operations/plan-shown.js'
import type {PlanStatus} from '../../src/plans/index.js'

const shown = (description: string) => {
  const step = {node_id: 'n1', status: 'pending', description, attempts: 0}
  const plan = {
    session_id: 's',
    status: 'running',
    latest_version: 2,
    steps: [step],
    step_counts: {completed: 0, failed: 0},
  }
  return presentStatus(plan as unknown as PlanStatus)
}

describe('a plan that a tool shows', () => {
  it('has whole descriptions of up to 200 characters', () => {
    assert.equal(shown('x'.repeat(200)).nodes[0]?.description, 'x'.repeat(200))
  })

  it('has longer descriptions cut at 200 characters, the ellipsis included', () => {
    assert.equal(shown('x'.repeat(201)).nodes[0]?.description, `${'x'.repeat(199)}…`)
  })

  it('has null for what is not known of a step', () => {
    assert.deepEqual(shown('a step'), {
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
          task_id: null,
          attempts_count: 0,
          last_outcome: null,
          last_error: null,
          held_reason: null,
        },
      ],
      progress: {total: 1, completed: 0, failed: 0},
    })
  })
})
