import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {GenerateRequest} from '../../src/llm/index.js'
import {provenShapes} from '../../src/llm/receipt/same-bytes.js'
import {qwen05b, writeRandomModel} from '../bench/random-model.js'
import {campaignSeed} from '../support/campaign-seed.js'
import {projectFile, sharedData, skipWithout} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'
import {compareSchedules, requestsOf} from './support/schedules.js'

const seed = campaignSeed(import.meta.url)

/** Keys and values of replies are rounded differently in prompts, so with rounded weights only prompts are reused. */
const promptsOnly = {promptLookup: false, prefixBytes: 0}

interface Campaign {
  skip?: string | false
  folder(t: TestContext): Promise<string>
  requests: readonly GenerateRequest[]
}

/** Of the shapes for which receipts claim equal bytes. */
const campaigns: Readonly<Record<string, Campaign>> = {
  stories260K: {
    skip: skipWithout('stories260K'),
    folder: async () => sharedData('stories260K') ?? '',
    requests: requestsOf(16, 60),
  },
  guide: {
    folder: async () => projectFile('examples/runs/guide'),
    // With and without its adapter in the same batch.
    requests: requestsOf(8, 16).map((request, i) => (i % 3 === 0 ? {...request, adapter: false as const} : request)),
  },
  '0.5B': {
    async folder(t) {
      const folder = await temporaryFolder(t)
      await writeRandomModel(folder, qwen05b, 'BF16')
      return folder
    },
    requests: requestsOf(4, 6),
  },
}

describe('a request has the same tokens in every schedule', () => {
  it('for all shapes for which receipts claim it', () => {
    assert.deepEqual(
      provenShapes.map(({name}) => name),
      Object.keys(campaigns),
    )
  })

  for (const [precision, options] of [
    ['f32', {promptLookup: true, prefixBytes: 100_000_000}],
    ['w8', promptsOnly],
  ] as const)
    for (const [name, {skip = false, folder, requests}] of Object.entries(campaigns))
      it(`${precision}, ${name}, 200 schedules`, {skip}, async (t) => {
        const isClaimed = provenShapes.some((proven) => proven.name === name && proven.precisions.includes(precision))
        await compareSchedules(t, await folder(t), {precision, ...options}, {seed, schedules: 200, requests, isClaimed})
      })

  for (const changes of [
    {family: 'lfm2'},
    {family: 'qwen3_5_text'},
    {family: 'granitemoehybrid', config: {mamba_d_head: 32}},
  ] as const)
    it(`of the family ${changes.family} with drafts and saved prompts, 200 schedules`, async (t) => {
      const folder = await temporaryFolder(t)
      await writeTinyModel(folder, {layers: 6, hiddenSize: 64, tied: true, layout: 'single', ...changes})
      const options = {promptLookup: true, prefixBytes: 100_000_000}
      await compareSchedules(t, folder, options, {seed, schedules: 200, requests: requestsOf(16, 60), isClaimed: false})
    })
})
