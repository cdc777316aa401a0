import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {describe, it} from 'node:test'
import {promisify} from 'node:util'
import {listOperations, redoOperation, reorderTask, undoOperation} from '../../../src/orchestrator/index.js'
import {executePlan, newPlan, planStatus} from '../../../src/plans/index.js'
import {
  cancelTask,
  completeTask,
  doubtTask,
  pruneTasks,
  readEvents,
  requireTask,
  submitTask,
  taskEvidence,
  taskInDetail,
} from '../../../src/tasks/index.js'
import {taskStatuses} from '../../../src/workspace/index.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {taskThatIs} from '../../orchestrator/support/tasks.js'
import {projectFile} from '../../support/project.js'
import {gatedWorkspace} from './gated-workspace.js'

const behavioral = 'behavioral_gate_on_complete = true\nbehavioral_gate_command = ["test"]\n'
const stub = '// TODO: write it\n'
const finished = 'export const a = () => 1\n'

describe('completion by force', () => {
  it('overrides the claim of somebody else if the gates accept the work', async (t) => {
    const {orchestrator, claim} = await gatedWorkspace(t)
    const {id, generation} = await claim()
    const completion = await completeTask(orchestrator, id, undefined, {force: true})
    assert.equal(completion.outcome, 'completed')
    const [event] = readEvents(orchestrator, {types: ['task_claim_overridden']})
    assert.ok(event?.kind.type === 'task_claim_overridden')
    assert.deepEqual([event.kind.owner, event.kind.generation], ['worker', generation])
  })

  it('does not override the gates', async (t) => {
    const {orchestrator, claim, write} = await gatedWorkspace(t)
    const {id} = await claim(['a.js'])
    await write('a.js', stub)
    const completion = await completeTask(orchestrator, id, undefined, {force: true})
    assert.equal(completion.outcome, 'requeued')
    assert.equal(requireTask(orchestrator, id).status, 'Queued')
  })

  for (const [name, finisher] of [
    ['by force', {force: true}],
    ['under a generation', {}],
  ] as const)
    it(`${name} is refused with claim_lost if the claim changed while the gates were evaluated`, async (t) => {
      const {orchestrator, claim, claimAgain} = await gatedWorkspace(t, {toml: behavioral})
      const {id, generation} = await claim()
      let reclaimed: Promise<{generation: number}> | undefined
      const completing = completeTask(
        orchestrator,
        id,
        undefined,
        {...finisher, ...('force' in finisher ? {} : {generation})},
        {
          onCheck() {
            orchestrator.store.run('UPDATE orch_tasks SET claim_expires_ms = 1 WHERE id = ?', [id])
            reclaimed = claimAgain(id)
          },
        },
      )
      await assert.rejects(completing, {code: 'claim_lost'})
      const again = await reclaimed
      const task = requireTask(orchestrator, id)
      assert.deepEqual([task.status, task.generation], ['InProgress', again?.generation])
      assert.ok((again?.generation ?? 0) > generation)
      assert.deepEqual(readEvents(orchestrator, {types: ['task_gated', 'task_completed']}), [])
    })
})

describe('a task that ends while its gates are evaluated', () => {
  const ends = {
    cancelled: cancelTask,
    doubted: doubtTask,
  } as const
  for (const [name, end] of Object.entries(ends))
    it(`stays ${name}`, async (t) => {
      const {orchestrator, claim} = await gatedWorkspace(t, {toml: behavioral})
      const task = await claim()
      const completing = completeTask(orchestrator, task.id, undefined, task, {
        onCheck: () => end(orchestrator, task.id),
      })
      await assert.rejects(completing, {code: 'claim_lost'})
      assert.equal(requireTask(orchestrator, task.id).status.toLowerCase(), name)
      assert.deepEqual(readEvents(orchestrator, {types: ['task_gated', 'task_completed']}), [])
    })
})

describe('evidence', () => {
  it('is removed with its task by a prune', async (t) => {
    const workspace = await gatedWorkspace(t)
    const {orchestrator, claim, write, complete} = workspace
    const task = await claim(['a.js'])
    await write('a.js', finished)
    assert.equal((await complete(task)).outcome, 'completed')
    const kept = await claim(['b.js'])
    const rows = () => orchestrator.store.all('SELECT task_id FROM orch_task_evidence')
    assert.deepEqual(rows(), [{task_id: task.id}, {task_id: kept.id}])
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal(pruneTasks(orchestrator, {olderThanMs: 0}).removed, 1)
    assert.deepEqual(rows(), [{task_id: kept.id}])
  })

  it('is available for a task in every status', async (t) => {
    for (const status of taskStatuses) {
      const orchestrator = await openTestOrchestrator(t)
      const {outcome, gates, files, checks} = await taskEvidence(orchestrator, taskThatIs(orchestrator, status))
      assert.deepEqual([status, outcome, files, checks], [status, 'pending', [], []])
      assert.deepEqual(
        gates.filter(({verdict}) => verdict !== 'pass'),
        [],
      )
    }
  })

  it('is that of the latest evaluation, except while the task is in progress', async (t) => {
    const workspace = await gatedWorkspace(t, {toml: 'max_toestub_debug_iterations = 1\n'})
    const {orchestrator, write, complete, claim, claimAgain} = workspace
    const first = await claim(['a.js'])
    const outcome = async () => (await taskEvidence(orchestrator, first.id)).outcome
    await write('a.js', stub)
    assert.equal(await outcome(), 'pending')
    await complete(first)
    assert.equal(await outcome(), 'requeued')
    const second = await claimAgain(first.id)
    assert.equal(await outcome(), 'pending')
    await complete(second)
    assert.deepEqual([await outcome(), requireTask(orchestrator, first.id).status], ['failed', 'Failed'])
    doubtTask(orchestrator, first.id)
    assert.equal(await outcome(), 'failed')
    assert.equal(taskInDetail(orchestrator, first.id).evaluation?.outcome, 'failed')
  })
})

describe('undo and redo', () => {
  it('work for the operations of a task that a gate returned', async (t) => {
    const {orchestrator, write, complete, claimAgain} = await gatedWorkspace(t)
    const {task_id: id} = submitTask(orchestrator, {
      description: 'Do the work',
      file_manifest: [{path: 'a.js', access: 'write'}],
    })
    reorderTask(orchestrator, id, 'urgent')
    const before = listOperations(orchestrator)
    const claimed = await claimAgain(id)
    await write('a.js', stub)
    assert.equal((await complete(claimed)).outcome, 'requeued')
    assert.deepEqual(listOperations(orchestrator), before)
    const [last] = before
    assert.equal(undoOperation(orchestrator, last?.op_id ?? '').undone, true)
    assert.equal(requireTask(orchestrator, id).priority, 'normal')
    assert.equal(redoOperation(orchestrator, last?.op_id ?? '').undone, false)
    assert.equal(requireTask(orchestrator, id).priority, 'urgent')
    await write('a.js', finished)
    assert.equal((await complete(await claimAgain(id))).outcome, 'completed')
  })
})

describe('a plan step whose task a gate returned', () => {
  it('is not finished, and is completed with the next attempt', async (t) => {
    const workspace = await gatedWorkspace(t, {toml: 'planning_auto_mode_enabled = true\n'})
    const {orchestrator, write, complete, claimAgain} = workspace
    const step = (description: string, dependsOn: number[], path: string) => ({
      description,
      dependsOn,
      files: [{path, access: 'write' as const}],
      category: 'general' as const,
      complexity: 3,
      triggers: [],
    })
    const plan = newPlan(orchestrator, {
      goal: 'Add two parts',
      steps: [step('Add the first part', [], 'a.js'), step('Add the second part', [0], 'b.js')],
    })
    executePlan(orchestrator, plan.session_id)
    const nodes = () => planStatus(orchestrator, plan.session_id).steps.map(({status}) => status)
    const taskOf = (i: number) => planStatus(orchestrator, plan.session_id).steps[i]?.task_id ?? 0
    const first = await claimAgain(taskOf(0))
    assert.deepEqual(nodes(), ['in_progress', 'pending'])
    await write('a.js', stub)
    assert.equal((await complete(first)).outcome, 'requeued')
    assert.deepEqual([planStatus(orchestrator, plan.session_id).status, ...nodes()], ['active', 'queued', 'pending'])
    const again = await claimAgain(first.id)
    assert.deepEqual(nodes(), ['in_progress', 'pending'])
    await write('a.js', finished)
    assert.equal((await complete(again)).outcome, 'completed')
    assert.equal(nodes()[0], 'completed')
    const second = await claimAgain(taskOf(1))
    await write('b.js', finished)
    assert.equal((await complete(second)).outcome, 'completed')
    assert.deepEqual(nodes(), ['completed', 'completed'])
    assert.equal(planStatus(orchestrator, plan.session_id).status, 'completed')
  })
})

describe('the completion of tasks without files', () => {
  it('starts no thread', async () => {
    const program = projectFile('dist/test/tasks/completion/count-threads.js')
    const {stdout} = await promisify(execFile)(process.execPath, [program], {timeout: 60_000})
    assert.deepEqual(JSON.parse(stdout), {withoutFiles: 0, withFile: 1})
  })
})
