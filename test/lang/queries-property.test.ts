import {describe, it} from 'node:test'
import {compareQueries, queriesPerTable} from './random-queries.js'

/** `queries-property.slow.ts` compares more queries. */
const tables = 2

describe(`${tables * queriesPerTable} random queries`, () => {
  for (let seed = 1; seed <= tables; seed++) it(`equal a plain evaluation: table ${seed}`, () => compareQueries(seed))
})
