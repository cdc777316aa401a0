import {describe, it} from 'node:test'
import {compareConditions, conditionsPerTable} from './random-conditions.js'

const tables = 40

describe(`${tables * conditionsPerTable} random conditions`, () => {
  for (let seed = 1; seed <= tables; seed++)
    it(`match the rows that a direct comparison matches: table ${seed}`, () => compareConditions(seed))
})
