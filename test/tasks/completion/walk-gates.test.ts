import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {invalidReceipts} from './gate-invariants.js'
import {gatedWorkspace} from './gated-workspace.js'
import {walkGates, walkSettings} from './walk-gates.js'

describe('random actions of two clients in a workspace with gates', () => {
  it('lose no task, count every refusal and leave only valid receipts', async (t) => {
    const {orchestrator, root} = await gatedWorkspace(t, {toml: walkSettings})
    const other = await openTestOrchestrator(t, {root, clock: 'real'})
    const reports = await Promise.all([
      walkGates(orchestrator, {seed: 3, steps: 120, name: 'east'}),
      walkGates(other, {seed: 4, steps: 120, name: 'west'}),
    ])
    const counts = reports.flatMap(({counts}) => Object.entries(counts))
    assert.deepEqual(
      reports.flatMap(({faults}) => faults),
      [],
    )
    assert.deepEqual(await invalidReceipts(orchestrator), [])
    for (const result of [/: completed$/, /: requeued by /, /: claim_lost$/])
      assert.ok(
        counts.some(([key]) => result.test(key)),
        JSON.stringify(reports),
      )
  })
})
