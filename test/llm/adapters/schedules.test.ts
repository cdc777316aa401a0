import {describe, it} from 'node:test'
import {compareSchedules} from './schedules.js'

describe('a request for an adapter has the same reply in every schedule', () => {
  it('f32, with drafts and remembered prompts, 50 schedules', (t) =>
    compareSchedules(t, {
      precision: 'f32',
      schedules: 50,
      seed: 1,
      memory: 0.6,
      exact: false,
      promptLookup: true,
      prefixBytes: 10_000_000,
    }))

  for (const precision of ['f32', 'w8'] as const)
    it(`${precision}, with equal log-probabilities, 75 schedules`, (t) =>
      compareSchedules(t, {precision, schedules: 75, seed: 2, memory: 0.6, exact: true}))
})
