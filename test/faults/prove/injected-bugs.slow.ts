import {describe} from 'node:test'
import {injectedBugs, testBug} from './injected-bugs/campaign.js'

describe('a bug of a control plane', () => {
  for (const each of injectedBugs) testBug(each, 4)
})
