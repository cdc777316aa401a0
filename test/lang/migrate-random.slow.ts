import {it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {migratePairs} from './random-migrations.js'

const pairs = 1000
const seed = campaignSeed(import.meta.url)

it(`${pairs} random pairs of programs: every value is converted, or nothing is changed`, (t) =>
  migratePairs(t, pairs, seed))
