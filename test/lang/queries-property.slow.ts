import {describe, it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {compareQueries, queriesPerTable} from './random-queries.js'

const tables = 40
const seed = campaignSeed(import.meta.url)

describe(`${tables * queriesPerTable} random queries`, () => {
  for (let table = 0; table < tables; table++)
    it(`equal a plain evaluation: table ${table + 1}`, () => compareQueries(seed + table))
})
