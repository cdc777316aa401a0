import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {sharedData, skipWithout} from '../support/project.js'
import {loadModel} from './load-model.js'
import {boundedSchemas, checkReplies} from './support/schema-campaign.js'

const seed = campaignSeed(import.meta.url)

describe('replies to 20 random schemas', {skip: skipWithout('stories260K')}, () => {
  for (const precision of ['f32', 'w4'] as const)
    it(`are valid with 25 seeds each, in one batch: ${precision}`, async (t) => {
      const folder = sharedData('stories260K') ?? ''
      const model = await loadModel(t, folder, {precision, threads: 2, slots: 50, promptLookup: true})
      const ended = await checkReplies(model, boundedSchemas(20, seed), {seeds: 25, maxTokens: 300})
      assert.ok(ended >= 0.8, `${100 * ended} % of the replies ended`)
    })
})
