import {describe} from 'node:test'
import {injectedBugs, testBug} from './injected-bugs/campaign.js'

/** A bug that a short run finds; `injected-bugs.slow.ts` tries all of them. */
const quick = 'guess-burns-bootstrap'

describe('a bug of a control plane', () => {
  for (const each of injectedBugs.filter(({bug}) => bug === quick)) testBug(each, 1)
})
