import {describe} from 'node:test'
import {injectedBugs, testBug} from './injected-bugs/campaign.js'

/** A bug that a short run detects; `injected-bugs.slow.ts` tests all of them. */
const quick = 'guess-burns-bootstrap'

describe('injected bug', () => {
  for (const each of injectedBugs.filter(({bug}) => bug === quick)) testBug(each, 1)
})
