import {describe} from 'node:test'
import {planted, testBug} from './injected-bugs/campaign.js'

/** A bug that a short run finds; `planted.slow.ts` tries all of them. */
const quick = 'guess-burns-bootstrap'

describe('a bug of a control plane', () => {
  for (const each of planted.filter(({bug}) => bug === quick)) testBug(each, 1)
})
