import {describe, it} from 'node:test'
import {compareSchedules} from './schedules.js'

describe('a request for an adapter has the same reply in every schedule', () => {
  it('f32, with drafts and remembered prompts, 12 schedules', (t) =>
    compareSchedules(t, {
      precision: 'f32',
      schedules: 12,
      seed: 1,
      exact: false,
      promptLookup: true,
      prefixBytes: 10_000_000,
    }))

  for (const precision of ['f32', 'w8'] as const)
    it(`${precision}, with equal log-probabilities, 15 schedules`, (t) =>
      compareSchedules(t, {precision, schedules: 15, seed: 2, exact: true}))
})
