import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {completeFalsely, completeHonestly, enforcedWorkspace, falseKinds, findingOf} from './claims.js'
import {countOutcomes} from './count-outcomes.js'

describe('a completion under enforced gates', () => {
  for (const kind of falseKinds)
    it(`is refused if the claim is false: ${kind}`, async (t) => {
      const workspace = await enforcedWorkspace(t)
      const {accepted, refused} = await countOutcomes(10, 1, (seed) => completeFalsely(workspace, kind, seed))
      assert.deepEqual(accepted, [])
      for (const {report} of refused) assert.match(report, findingOf[kind])
    })

  it('is accepted if the work is done', async (t) => {
    const workspace = await enforcedWorkspace(t)
    const {refused} = await countOutcomes(70, 1, (seed) => completeHonestly(workspace, seed))
    assert.deepEqual(refused, [])
  })
})
