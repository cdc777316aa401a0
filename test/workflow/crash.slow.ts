import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {crashCampaign} from './crash-campaign.js'

describe('workflow runs whose process is killed many times', () => {
  for (let seed = 0; seed < 3; seed++)
    it(`end like uninterrupted ones, seed ${seed}`, async (test) => {
      assert.ok((await crashCampaign(test, {seed, workflows: 20, kills: 10})) > 0)
    })
})
