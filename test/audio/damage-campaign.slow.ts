import {describe, it} from 'node:test'
import {assertNoSilentLoss, damagedFormats} from '../support/damage-campaign.js'
import {skipWithoutFfmpeg} from '../support/ffmpeg.js'
import {temporaryFolder} from '../support/temporary.js'

describe('a recording that is damaged 60 times', {skip: skipWithoutFfmpeg}, () => {
  for (const format of Object.keys(damagedFormats))
    it(`in ${format} loses nothing without a warning`, async (test) =>
      assertNoSilentLoss(format, await temporaryFolder(test), [0, 60]))
})
