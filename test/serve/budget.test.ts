import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Budget} from '../../src/serve/budget.js'

describe('the budget of a client', () => {
  it('is refilled within a minute, and not beyond it', () => {
    let now = 1000
    const budget = new Budget(60, () => now)
    budget.charge(60)
    assert.deepEqual([budget.remaining, budget.waitMs, budget.resetMs], [0, 1000, 60_000])
    now += 30_000
    assert.deepEqual([budget.remaining, budget.waitMs, budget.resetMs], [30, 0, 30_000])
    now += 300_000
    assert.deepEqual([budget.remaining, budget.waitMs, budget.resetMs], [60, 0, 0])
  })

  it('can be overdrawn, and is used up until the debt is paid', () => {
    let now = 0
    const budget = new Budget(600, () => now)
    budget.charge(1800)
    assert.deepEqual([budget.remaining, budget.waitMs], [0, 120_100])
    now += 120_100
    assert.deepEqual([budget.remaining, budget.waitMs], [1, 0])
  })
})
