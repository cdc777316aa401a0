import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {crashCampaign} from './crash-campaign.js'
import {taskCampaign} from './task-campaign.js'

const firstSeed = campaignSeed(import.meta.url)

describe('workflow runs whose process is killed many times', () => {
  for (let i = 0; i < 3; i++)
    it(`end like uninterrupted ones, campaign ${i + 1} of 3`, async (test) => {
      assert.ok((await crashCampaign(test, {seed: firstSeed + i, workflows: 20, kills: 10})) > 0)
    })

  for (let i = 0; i < 10; i++)
    it(`have at most one unfinished task per step, campaign ${i + 1} of 10`, async (test) => {
      await taskCampaign(test, {seed: firstSeed + i, workflows: 50, kills: 4})
    })
})
