import {it} from 'node:test'
import {migratePairs} from './random-migrations.js'

const pairs = 40

it(`${pairs} random pairs of programs: every value is converted, or nothing is changed`, (t) =>
  migratePairs(t, pairs, 41))
