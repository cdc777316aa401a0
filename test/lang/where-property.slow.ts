import {describe, it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {compareConditions, conditionsPerTable} from './random-conditions.js'

const tables = 40
const seed = campaignSeed(import.meta.url)

describe(`${tables * conditionsPerTable} random conditions`, () => {
  for (let table = 0; table < tables; table++)
    it(`match the rows that a direct comparison matches: table ${table + 1}`, () => compareConditions(seed + table))
})
