import {describe} from 'node:test'
import {campaignSeed} from '../../support/campaign-seed.js'
import {injectedBugs, testBug} from './injected-bugs/campaign.js'
import {mutationCampaigns, testMutation} from './injected-bugs/mutation-campaigns.js'

const seed = campaignSeed(import.meta.url)

describe('injected bug', () => {
  for (const each of injectedBugs) testBug(each, {seed, seconds: 4})
})

describe('injected bug of programs', () => {
  for (const each of mutationCampaigns) testMutation(each, {seed, seconds: 15})
})
