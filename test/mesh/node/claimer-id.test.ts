import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {claimerId} from '../../../src/mesh/index.js'

describe('claimerId', () => {
  for (const [settings, id] of [
    [{nodeId: 'rig1', scopeId: 'team-a'}, 'orch-rig1-9c3b5d2f'],
    [{scopeId: 'team-a'}, 'orch-team-a-9c3b5d2f'],
    [{nodeId: '', scopeId: ''}, 'orch-orchestrator-host1-9c3b5d2f'],
    [{}, 'orch-orchestrator-host1-9c3b5d2f'],
  ] as const)
    it(`is ${id} for ${JSON.stringify(settings)}`, () =>
      assert.equal(claimerId({...settings, repositoryId: '9c3b5d2f0a417e68'}, 'host1'), id))
})
