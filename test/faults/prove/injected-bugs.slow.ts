import {describe} from 'node:test'
import {injectedBugs, testBug} from './injected-bugs/campaign.js'
import {mutationCampaigns, testMutation} from './injected-bugs/mutation-campaigns.js'

describe('injected bug', () => {
  for (const each of injectedBugs) testBug(each, 4)
})

describe('injected bug of programs', () => {
  for (const each of mutationCampaigns) testMutation(each, 15)
})
