import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {campaignSeed} from '../../support/campaign-seed.js'
import {completeFalsely, completeHonestly, enforcedWorkspace, falseKinds, findingOf, hiddenKind} from './claims.js'
import {countOutcomes} from './count-outcomes.js'

const firstSeed = campaignSeed(import.meta.url)

describe('a completion under enforced gates, 330 false ones and 280 honest ones', () => {
  for (const kind of falseKinds)
    it(`is refused if the claim is false: ${kind}`, async (t) => {
      const workspace = await enforcedWorkspace(t)
      const count = kind === hiddenKind ? 50 : 40
      const {accepted, refused} = await countOutcomes(count, firstSeed, (seed) =>
        completeFalsely(workspace, kind, seed),
      )
      t.diagnostic(`${kind}: ${accepted.length} of ${count} accepted, ${refused.length} refused`)
      assert.deepEqual(accepted, [])
      for (const {report} of refused) assert.match(report, findingOf[kind])
    })

  it('is accepted if the work is done', async (t) => {
    const workspace = await enforcedWorkspace(t)
    const {accepted, refused} = await countOutcomes(280, firstSeed, (seed) => completeHonestly(workspace, seed))
    t.diagnostic(`honest: ${accepted.length} of 280 accepted, ${refused.length} refused`)
    assert.ok(refused.length <= 4, JSON.stringify(refused))
  })
})
