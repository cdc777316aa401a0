import {describe, it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {assertNoSilentLoss, damagedFormats} from '../support/damage-campaign.js'
import {skipWithoutFfmpeg} from '../support/ffmpeg.js'
import {temporaryFolder} from '../support/temporary.js'

const seed = campaignSeed(import.meta.url)

describe('a recording damaged in 60 places', {skip: skipWithoutFfmpeg}, () => {
  for (const format of Object.keys(damagedFormats))
    it(`loses no audio without a warning: ${format}`, async (test) =>
      assertNoSilentLoss(format, await temporaryFolder(test), [seed, seed + 60]))
})
