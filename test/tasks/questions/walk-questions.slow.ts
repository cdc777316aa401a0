import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {campaignSeed} from '../../support/campaign-seed.js'
import {walkQuestions, walkSettings} from './walk-questions.js'

const firstSeed = campaignSeed(import.meta.url)

describe('1,000 random walks of persons and agents with little attention', () => {
  for (let first = 0; first < 1000; first += 100)
    it(`lose no task and apply no answer twice, walks ${first + 1} to ${first + 100}`, async (t) => {
      for (let seed = firstSeed + first; seed < firstSeed + first + 100; seed++) {
        const orchestrator = await openTestOrchestrator(t, {toml: walkSettings})
        assert.deepEqual((await walkQuestions(orchestrator, {seed, steps: 200})).faults, [])
        orchestrator.close()
      }
    })
})
