import assert from 'node:assert/strict'
import os from 'node:os'
import {describe, it} from 'node:test'
import {claimerId} from '../../../src/mesh/index.js'

describe('claimerId', () => {
  for (const [settings, id] of [
    [{nodeId: 'rig1', scopeId: 'team-a'}, 'orch-rig1'],
    [{scopeId: 'team-a'}, 'orch-team-a'],
    [{nodeId: '', scopeId: ''}, 'orch-orchestrator-host1'],
    [{}, 'orch-orchestrator-host1'],
  ] as const)
    it(`is ${id} for ${JSON.stringify(settings)}`, () => assert.equal(claimerId(settings, 'host1'), id))

  it('uses the name of this machine', () => assert.equal(claimerId({}), `orch-orchestrator-${os.hostname()}`))
})
