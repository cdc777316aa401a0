import {describe} from 'node:test'
import {injectedBugs, testBug} from './injected-bugs/campaign.js'

describe('injected bug', () => {
  for (const each of injectedBugs) testBug(each, 4)
})
