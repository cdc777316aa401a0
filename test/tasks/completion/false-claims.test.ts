import assert from 'node:assert/strict'
import {chmod} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {cancelTask} from '../../../src/tasks/index.js'
import {needsRoot} from '../hidden/hidden-workspace.js'
import {completeFalsely, completeHonestly, enforcedWorkspace, falseKinds, findingOf} from './claims.js'
import {countOutcomes} from './count-outcomes.js'
import {completeVisibly} from './hidden-claims.js'

// `false-claims.slow.ts` makes more of them.
describe('a completion under enforced gates', () => {
  for (const kind of falseKinds)
    it(`is refused if the claim is false: ${kind}`, async (t) => {
      const workspace = await enforcedWorkspace(t)
      const {accepted, refused} = await countOutcomes(3, 1, (seed) => completeFalsely(workspace, kind, seed))
      assert.deepEqual(accepted, [])
      for (const {report} of refused) assert.match(report, findingOf[kind])
    })

  it('is accepted if the work passes the hidden check, too', async (t) => {
    const {completion} = await completeVisibly(await enforcedWorkspace(t), 'is correct', 1)
    assert.equal(completion.outcome, 'completed', JSON.stringify(completion))
  })

  it('is refused although the worker looks for the hidden check, unless it can read it', {
    skip: needsRoot,
  }, async (t) => {
    const workspace = await enforcedWorkspace(t)
    const held = await completeVisibly(workspace, 'looks for the check to change it', 1)
    assert.deepEqual([held.completion.outcome, JSON.parse(held.found)], ['requeued', []])
    cancelTask(workspace.orchestrator, held.completion.task.id)
    await chmod(workspace.hiddenFolder, 0o755)
    const {completion, found} = await completeVisibly(workspace, 'looks for the check', 2)
    assert.match(found, /cases-/)
    assert.equal(completion.outcome, 'completed')
  })

  it('is accepted if the work is done', async (t) => {
    const workspace = await enforcedWorkspace(t)
    const {refused} = await countOutcomes(10, 1, (seed) => completeHonestly(workspace, seed))
    assert.deepEqual(refused, [])
  })
})
