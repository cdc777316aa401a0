import {describe} from 'node:test'
import {planted, testBug} from './injected-bugs/campaign.js'

describe('a bug of a control plane', () => {
  for (const each of planted) testBug(each, 4)
})
