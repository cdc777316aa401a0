import {describe, it} from 'node:test'
import {campaignSeed} from '../../support/campaign-seed.js'
import {compareSchedules} from './schedules.js'

const seed = campaignSeed(import.meta.url)

describe('a request for an adapter has the same reply in 10,000 schedules', () => {
  it('f32, with drafts and remembered prompts', (t) =>
    compareSchedules(t, {
      precision: 'f32',
      schedules: 4000,
      seed,
      memory: 0.9,
      exact: false,
      promptLookup: true,
      prefixBytes: 10_000_000,
    }))

  for (const precision of ['f32', 'w8'] as const)
    it(`${precision}, with equal log-probabilities`, (t) =>
      compareSchedules(t, {precision, schedules: 3000, seed, memory: 0.9, exact: true}))
})
