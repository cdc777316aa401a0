import {describe} from 'node:test'
import {injectedBugs, testBug} from './injected-bugs/campaign.js'
import {orchestratorBugs, testOrchestratorBug} from './injected-bugs/orchestrator-bugs.js'

describe('injected bug', () => {
  for (const each of injectedBugs) testBug(each, 4)
})

describe('injected bug of an orchestrator', () => {
  for (const each of orchestratorBugs) testOrchestratorBug(each, 15)
})
