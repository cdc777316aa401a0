import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {crashCampaign} from './crash-campaign.js'

const firstSeed = campaignSeed(import.meta.url)

describe('workflow runs whose process is killed many times', () => {
  for (let i = 0; i < 3; i++)
    it(`end like uninterrupted ones, campaign ${i + 1} of 3`, async (test) => {
      assert.ok((await crashCampaign(test, {seed: firstSeed + i, workflows: 20, kills: 10})) > 0)
    })
})
