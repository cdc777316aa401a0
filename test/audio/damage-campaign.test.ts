import {describe, it} from 'node:test'
import {assertNoSilentLoss, damagedFormats} from '../support/damage-campaign.js'
import {skipWithoutFfmpeg} from '../support/ffmpeg.js'
import {temporaryFolder} from '../support/temporary.js'

describe('a recording damaged in a few places', {skip: skipWithoutFfmpeg}, () => {
  for (const format of Object.keys(damagedFormats))
    it(`loses no audio without a warning: ${format}`, async (test) =>
      assertNoSilentLoss(format, await temporaryFolder(test), [0, 3]))
})
