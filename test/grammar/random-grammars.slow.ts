import {it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {assertAcceptsRandomGrammars} from './support/random-grammars-campaign.js'

it('compiled grammars accept the texts of random grammars, and no others', () => {
  assertAcceptsRandomGrammars({seeds: 1000, first: campaignSeed(import.meta.url)})
})
