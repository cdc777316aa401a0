import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {crashCampaign} from './crash-campaign.js'
import {taskCampaign} from './task-campaign.js'

describe('workflow runs whose process is killed', () => {
  it('end like uninterrupted ones, and repeat no completed activity', async (test) => {
    // Each kill interrupts all runs, each at another point.
    assert.ok((await crashCampaign(test, {seed: 3, workflows: 10, kills: 2})) > 0)
  })

  it('have at most one unfinished task per step, and none when they have ended', async (test) => {
    await taskCampaign(test, {seed: 5, workflows: 4, kills: 1})
  })
})
