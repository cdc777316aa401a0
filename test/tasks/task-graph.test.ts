import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {requireTask, submitGraph} from '../../src/tasks/index.js'
import {maxShards} from '../../src/tasks/submission/task-graph.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {complete, submit} from '../orchestrator/support/tasks.js'

const files = ['src/a.ts', 'src/b.ts', 'src/c.ts'].map((path) => ({path, access: 'write'}))
const goal = {description: 'Add the parser', file_manifest: files, enqueue_hints: {model_preference: 'small'}}

describe('the graph coding', () => {
  it('has four tasks, each after the previous one', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const before = submit(orchestrator)
    const task = {...goal, depends_on: [before], accept: ['It parses.'], idempotency_key: 'k'}
    const accepted = submitGraph(orchestrator, {graph: 'coding', task})
    const tasks = accepted.map(({task_id}) => requireTask(orchestrator, task_id))
    assert.deepEqual(
      tasks.map((each) => [each.description, each.phase_label, each.category, each.execution_role]),
      [
        ['[PHASE:PLAN] Add the parser', 'plan', 'planning', 'planner'],
        ['[PHASE:DRAFT] Add the parser', 'draft', 'codegen', 'builder'],
        ['[PHASE:CRITIQUE] Add the parser', 'critique', 'review', 'verifier'],
        ['[PHASE:REPAIR] Add the parser', 'repair', 'codegen', 'builder'],
      ],
    )
    const [plan, draft, critique, repair] = tasks
    assert.deepEqual(
      tasks.map(({depends_on}) => depends_on),
      [[before], [plan?.id], [draft?.id], [critique?.id]],
    )
    assert.deepEqual(
      tasks.map(({file_manifest}) => file_manifest.map(({access}) => access).join(' ')),
      ['read read read', 'write write write', 'read read read', 'write write write'],
    )
    assert.deepEqual(
      tasks.map(({harness}) => harness?.accept),
      [undefined, undefined, undefined, ['It parses.']],
    )
    assert.ok(tasks.every((each) => each.model_preference === 'small'))
    const again = submitGraph(orchestrator, {graph: 'coding', task})
    assert.deepEqual(
      again.map(({task_id, duplicate}) => [task_id, duplicate]),
      tasks.map(({id}) => [id, true]),
    )
    for (const id of [before, plan?.id as number]) complete(orchestrator, id)
    assert.deepEqual(
      [draft, critique, repair].map((each) => requireTask(orchestrator, each?.id as number).status),
      ['Queued', 'Blocked', 'Blocked'],
    )
  })

  it('has no shards', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    refused('task_invalid', () => submitGraph(orchestrator, {graph: 'coding', task: goal, shards: 2}))
  })
})

describe('the graph shard', () => {
  it('divides the files among generators with a validator each, and joins their work', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const accepted = submitGraph(orchestrator, {graph: 'shard', task: goal, shards: 2})
    const tasks = accepted.map(({task_id}) => requireTask(orchestrator, task_id))
    const [first, second, firstCheck, secondCheck] = tasks.map(({id}) => id)
    assert.deepEqual(
      tasks.map(({description, depends_on, status, file_manifest}) => ({
        description,
        depends_on,
        status,
        files: file_manifest.map(({path, access}) => `${path}:${access}`).join(' '),
      })),
      [
        {
          description: '[PHASE:SHARD_GEN] Shard 1 of 2: Add the parser',
          depends_on: [],
          status: 'Queued',
          files: 'src/a.ts:write src/c.ts:write',
        },
        {
          description: '[PHASE:SHARD_GEN] Shard 2 of 2: Add the parser',
          depends_on: [],
          status: 'Queued',
          files: 'src/b.ts:write',
        },
        {
          description: '[PHASE:SHARD_VALIDATE] Shard 1 of 2: Add the parser',
          depends_on: [first],
          status: 'Blocked',
          files: 'src/a.ts:read src/c.ts:read',
        },
        {
          description: '[PHASE:SHARD_VALIDATE] Shard 2 of 2: Add the parser',
          depends_on: [second],
          status: 'Blocked',
          files: 'src/b.ts:read',
        },
        {
          description: '[PHASE:REDUCE] Add the parser',
          depends_on: [firstCheck, secondCheck],
          status: 'Blocked',
          files: 'src/a.ts:write src/b.ts:write src/c.ts:write',
        },
      ],
    )
  })

  for (const shards of [undefined, 0, 1.5, maxShards + 1])
    it(`is rejected with ${shards} shards and submits nothing`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const error = refused('task_invalid', () => submitGraph(orchestrator, {graph: 'shard', task: goal, shards}))
      assert.match(error.message, /number of shards must be an integer from 1 to 500/)
      assert.equal(orchestrator.store.get('SELECT 1 FROM orch_tasks'), undefined)
    })
})
