import assert from 'node:assert/strict'
import {unlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {
  doubtTask,
  overruleDoubt,
  requireTask,
  resolveDoubt,
  taskInDetail,
  verifyTask,
} from '../../../src/tasks/index.js'
import {type GatedWorkspace, gatedWorkspace} from './gated-workspace.js'

const finished = 'export const a = () => 1\n'

/** Completes a task that has written two files, and returns its id. */
async function completed(workspace: GatedWorkspace): Promise<number> {
  const task = await workspace.claim(['a.js', 'b.js'])
  await workspace.write('a.js', finished)
  await workspace.write('b.js', finished)
  assert.equal((await workspace.complete(task, {text: 'Both constants have their values.'})).outcome, 'completed')
  return task.id
}

const statesOf = ({files}: Awaited<ReturnType<typeof verifyTask>>) => files.map(({path, state}) => `${path} ${state}`)

describe('the receipt of a completed task', () => {
  it('is valid', async (t) => {
    const workspace = await gatedWorkspace(t)
    const id = await completed(workspace)
    const verified = await verifyTask(workspace.orchestrator, id)
    assert.deepEqual([verified.valid, verified.status, verified.receipt], [true, 'Completed', verified.recomputed])
    assert.deepEqual(statesOf(verified), ['a.js same', 'b.js same'])
  })

  it('is valid after its files were changed and removed, which it reports', async (t) => {
    const workspace = await gatedWorkspace(t)
    const id = await completed(workspace)
    await workspace.write('a.js', 'export const a = () => 2\n')
    await unlink(join(workspace.root, 'b.js'))
    const verified = await verifyTask(workspace.orchestrator, id)
    assert.equal(verified.valid, true)
    assert.deepEqual(statesOf(verified), ['a.js changed', 'b.js missing'])
  })

  const tampered: Readonly<Record<string, string>> = {
    'a change of a stored digest': `UPDATE orch_task_evidence SET evaluation = json_set(evaluation, '$.files[0].digest', 'f00')`,
    'a change of the state of a file': `UPDATE orch_task_evidence SET evaluation = json_set(evaluation, '$.files[0].change', 'unchanged')`,
    'a change of the outcome': `UPDATE orch_task_evidence SET evaluation = json_set(evaluation, '$.outcome', 'requeued')`,
    'the addition of a check': `UPDATE orch_task_evidence SET evaluation = json_set(evaluation, '$.checks[#]',
  json('{"check": "test", "grade": "verified", "passed": true}'))`,
    'the removal of the evaluation': 'DELETE FROM orch_task_evidence',
    'a change of the result': `UPDATE orch_tasks SET result = json_set(result, '$.text', 'Something else.')`,
    'a change of the description': "UPDATE orch_tasks SET description = 'Other work'",
    'a change of the receipt': "UPDATE orch_tasks SET receipt = 'sha256:0'",
  }
  for (const [what, sql] of Object.entries(tampered))
    it(`is not valid after ${what}`, async (t) => {
      const workspace = await gatedWorkspace(t)
      const id = await completed(workspace)
      workspace.orchestrator.store.run(sql)
      assert.equal((await verifyTask(workspace.orchestrator, id)).valid, false)
    })

  it('is missing if a person overruled a doubt about unfinished work', async (t) => {
    const {orchestrator, claim} = await gatedWorkspace(t)
    const {id} = await claim()
    doubtTask(orchestrator, id)
    overruleDoubt(orchestrator, id, 'good enough')
    const {status, receipt} = requireTask(orchestrator, id)
    assert.deepEqual([status, receipt], ['Completed', undefined])
    const verified = await verifyTask(orchestrator, id)
    assert.deepEqual([verified.valid, verified.receipt], [false, undefined])
  })

  it('is kept if a doubt about completed work was not justified', async (t) => {
    const workspace = await gatedWorkspace(t)
    const id = await completed(workspace)
    const {receipt} = requireTask(workspace.orchestrator, id)
    doubtTask(workspace.orchestrator, id)
    resolveDoubt(workspace.orchestrator, id, {validated: true, report: 'Examined.'})
    assert.equal(requireTask(workspace.orchestrator, id).receipt, receipt)
    assert.equal((await verifyTask(workspace.orchestrator, id)).valid, true)
  })

  it('ends with a justified doubt', async (t) => {
    const workspace = await gatedWorkspace(t)
    const id = await completed(workspace)
    doubtTask(workspace.orchestrator, id)
    resolveDoubt(workspace.orchestrator, id, {validated: false, report: 'It is wrong.'})
    const {status, receipt} = requireTask(workspace.orchestrator, id)
    assert.deepEqual([status, receipt], ['Queued', undefined])
    assert.equal((await verifyTask(workspace.orchestrator, id)).valid, false)
  })

  it('covers the last attempt, even if there is less evidence for it than for an earlier one', async (t) => {
    const workspace = await gatedWorkspace(t)
    const {orchestrator} = workspace
    const first = await workspace.claim()
    await workspace.write('a.js', finished)
    const result = {
      text: 'The constant has its new value.',
      artifact_paths: ['a.js'],
      declared_non_placeholder: true,
    }
    assert.equal((await workspace.complete(first, result)).outcome, 'completed')
    doubtTask(orchestrator, first.id)
    resolveDoubt(orchestrator, first.id, {validated: false, report: 'It is wrong.'})
    await unlink(join(workspace.root, 'a.js'))
    assert.equal((await workspace.complete(await workspace.claimAgain(first.id))).outcome, 'completed')
    assert.equal((await verifyTask(orchestrator, first.id)).valid, true)
  })
})

describe('the evaluation of a completed task', () => {
  it('is not that of an earlier refusal', async (t) => {
    const workspace = await gatedWorkspace(t)
    const task = await workspace.claim([], {enqueue_hints: {task_category: 'research'}})
    assert.equal((await workspace.complete(task, {text: 'It is in the report.'})).outcome, 'requeued')
    const again = await workspace.claimAgain(task.id)
    const accepted = await workspace.complete(again, {text: '```json\n{"answer": "in the report"}\n```'})
    assert.equal(accepted.outcome, 'completed')
    assert.equal(taskInDetail(workspace.orchestrator, task.id).evaluation?.outcome, 'completed')
    assert.equal((await verifyTask(workspace.orchestrator, task.id)).valid, true)
  })
})
