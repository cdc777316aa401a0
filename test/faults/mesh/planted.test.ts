import {describe} from 'node:test'
import {planted, testBug} from './planted/campaign.js'

/** Bugs that a short run finds; `planted.slow.ts` tries all of them. */
const quick = ['guess-burns-bootstrap', 'dedupe-lost-after-ack']

describe('a bug of a control plane', () => {
  for (const each of planted.filter(({bug}) => quick.includes(bug))) testBug(each, 1)
})
