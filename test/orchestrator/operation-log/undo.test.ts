import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {SubmitTaskV1} from '../../../src/contracts/index.js'
import type {SvcError} from '../../../src/errors/index.js'
import {
  listOperations,
  redoOperation,
  reorderTask,
  setPaused,
  spawnAgent,
  undoOperation,
} from '../../../src/orchestrator/index.js'
import {executePlan, planStatus} from '../../../src/plans/index.js'
import {rebalance} from '../../../src/scheduler/index.js'
import {
  cancelTask,
  drainAgent,
  listAgents,
  listTasks,
  readEvents,
  requireAgent,
  requireTask,
  retireAgent,
  submitTask,
  takeClaim,
} from '../../../src/tasks/index.js'
import {ackHere, sendHere} from '../../messages/support/agents.js'
import {diamond} from '../../plans/support.js'
import {contents, openTestOrchestrator, refused, type TestOrchestrator} from '../support/open-test-orchestrator.js'
import {start, statusOf, submit, submitWriter} from '../support/tasks.js'

const agentNames = (orchestrator: TestOrchestrator) => listAgents(orchestrator).map(({name}) => name)

/** The operations of the log in a readable form, latest first. */
const log = (orchestrator: TestOrchestrator) =>
  listOperations(orchestrator).map(({op_id, summary, undone}) => `${op_id} ${undone ? 'undone' : 'done'}: ${summary}`)

/** The message of the conflict. Asserts that the failed attempt changed nothing. */
function conflict(orchestrator: TestOrchestrator, call: () => unknown): string {
  const before = [contents(orchestrator), listOperations(orchestrator)]
  const error: SvcError<'operation_conflict'> = refused('operation_conflict', call)
  assert.deepEqual([contents(orchestrator), listOperations(orchestrator)], before)
  assert.equal(error.exit, 4)
  return error.message
}

describe('undo of a priority change', () => {
  it('restores the previous priority, and redo sets the new one again', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    reorderTask(orchestrator, id, 'urgent')
    const undone = undoOperation(orchestrator, 'OP-000001')
    assert.deepEqual(undone, {
      id: 1,
      op_id: 'OP-000001',
      operation: 'reorder_task',
      summary: 'T-0001 priority changed from normal to urgent',
      undone: true,
      timestamp_ms: orchestrator.clock.ms,
      task_id: id,
    })
    assert.equal(requireTask(orchestrator, id).priority, 'normal')
    assert.deepEqual(redoOperation(orchestrator, '1'), {...undone, undone: false})
    assert.equal(requireTask(orchestrator, id).priority, 'urgent')
    assert.equal(undoOperation(orchestrator, 'op-1').undone, true)
    assert.deepEqual(log(orchestrator), ['OP-000001 undone: T-0001 priority changed from normal to urgent'])
  })

  it('fails if the priority has changed since', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    reorderTask(orchestrator, id, 'urgent')
    reorderTask(orchestrator, id, 'background')
    assert.equal(
      conflict(orchestrator, () => undoOperation(orchestrator, '1')),
      'OP-000001 cannot be undone: T-0001 is now background.',
    )
    undoOperation(orchestrator, '2')
    undoOperation(orchestrator, '1')
    assert.equal(requireTask(orchestrator, id).priority, 'normal')
  })

  it('fails while the task is in progress', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    reorderTask(orchestrator, id, 'urgent')
    start(orchestrator, id)
    assert.equal(
      conflict(orchestrator, () => undoOperation(orchestrator, '1')),
      'OP-000001 cannot be undone: T-0001 is now InProgress.',
    )
    assert.equal(requireTask(orchestrator, id).priority, 'urgent')
  })

  it('fails after the task has ended, and so does redo', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    reorderTask(orchestrator, id, 'urgent')
    reorderTask(orchestrator, submit(orchestrator), 'urgent')
    undoOperation(orchestrator, '2')
    for (const task of [1, 2]) cancelTask(orchestrator, task)
    assert.equal(
      conflict(orchestrator, () => undoOperation(orchestrator, '1')),
      'OP-000001 cannot be undone: T-0001 is now Cancelled.',
    )
    assert.equal(
      conflict(orchestrator, () => redoOperation(orchestrator, '2')),
      'OP-000002 cannot be redone: T-0002 is now Cancelled.',
    )
  })

  it('does not exist if the priority was already the same', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    reorderTask(orchestrator, submit(orchestrator), 'normal')
    assert.deepEqual(listOperations(orchestrator), [])
  })
})

describe('undo of a pause', () => {
  it('resumes the agent, and redo pauses it again', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'builder'})
    setPaused(orchestrator, 'builder', true)
    setPaused(orchestrator, 'builder', true)
    const state = () => requireAgent(orchestrator, 'builder').state
    assert.equal(undoOperation(orchestrator, '2').agent_id, 1)
    assert.equal(state(), 'active')
    redoOperation(orchestrator, '2')
    assert.equal(state(), 'paused')
    setPaused(orchestrator, 'builder', false)
    undoOperation(orchestrator, '3')
    assert.equal(state(), 'paused')
    assert.deepEqual(log(orchestrator), [
      'OP-000003 undone: builder (A-01) resumed',
      'OP-000002 done: builder (A-01) paused',
      'OP-000001 done: builder (A-01) spawned',
    ])
  })

  it('identifies the agent by id, even if another one is named like the id', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'builder'})
    setPaused(orchestrator, 'builder', true)
    spawnAgent(orchestrator, {name: '1'})
    undoOperation(orchestrator, '2')
    assert.deepEqual(
      listAgents(orchestrator).map(({name, state}) => [name, state]),
      [
        ['builder', 'active'],
        ['1', 'active'],
      ],
    )
  })

  it('fails if the agent has been resumed or retired since', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'builder'})
    setPaused(orchestrator, 'builder', true)
    setPaused(orchestrator, 'builder', false)
    const undo = () => undoOperation(orchestrator, '2')
    assert.equal(conflict(orchestrator, undo), 'OP-000002 cannot be undone: builder (A-01) is active already.')
    retireAgent(orchestrator, 'builder')
    assert.equal(conflict(orchestrator, undo), 'OP-000002 cannot be undone: A-01 has been retired.')
  })
})

describe('undo of a spawned agent', () => {
  it('retires the agent, and redo spawns it with the same properties and a new id', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = spawnAgent(orchestrator, {name: 'lead'})
    const labels = ['region=eu']
    spawnAgent(orchestrator, {name: 'builder', parent: 'lead', reason: 'help', model: 'run-a', labels})
    undoOperation(orchestrator, '2')
    assert.deepEqual(agentNames(orchestrator), ['lead'])
    assert.equal(redoOperation(orchestrator, '2').agent_id, 3)
    const {id, parent_agent_id, spawn_reason, model, capabilities} =
      listAgents(orchestrator).find(({name}) => name === 'builder') ?? assert.fail()
    assert.deepEqual([id, parent_agent_id, spawn_reason, model], [3, parent.id, 'help', 'run-a'])
    assert.ok(capabilities.labels.includes('region=eu'))
    assert.deepEqual(log(orchestrator).at(0), 'OP-000002 done: builder (A-03) spawned')
    undoOperation(orchestrator, '2')
    assert.deepEqual(agentNames(orchestrator), ['lead'])
  })

  it('fails while the agent has tasks', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'builder'})
    submit(orchestrator, {target_agent: 'builder', requires_approval: true})
    const id = submit(orchestrator, {target_agent: 'builder'})
    const undo = () => undoOperation(orchestrator, '1')
    assert.equal(conflict(orchestrator, undo), 'OP-000001 cannot be undone: builder (A-01) now has 2 tasks.')
    undoOperation(orchestrator, 'T-0001')
    start(orchestrator, id)
    assert.equal(conflict(orchestrator, undo), 'OP-000001 cannot be undone: builder (A-01) now has 1 task.')
  })

  it('fails while the agent has unread messages', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const name of ['builder', 'reviewer']) spawnAgent(orchestrator, {name})
    const message = {sender: 'builder', receiver: 'reviewer', type: 'help_request', payload: 'look', route: 'db'}
    const {message_id} = sendHere(orchestrator, message)
    assert.equal(
      conflict(orchestrator, () => undoOperation(orchestrator, '2')),
      'OP-000002 cannot be undone: reviewer (A-02) now has 1 unread messages.',
    )
    ackHere(orchestrator, {agent: 'reviewer', message: message_id, route: 'db'}, 'me')
    undoOperation(orchestrator, '2')
    assert.deepEqual(agentNames(orchestrator), ['builder'])
  })

  it('cannot be redone if the name is taken', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'builder'})
    undoOperation(orchestrator, '1')
    spawnAgent(orchestrator, {name: 'builder'})
    const before = contents(orchestrator)
    refused('agent_exists', () => redoOperation(orchestrator, '1'))
    assert.deepEqual(contents(orchestrator), before)
    assert.equal(listOperations(orchestrator)[1]?.undone, true)
  })

  it('exists only for explicitly spawned agents', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmin_agents = 2\n'})
    submit(orchestrator, {target_agent: 'routed'})
    rebalance(orchestrator)
    assert.deepEqual(agentNames(orchestrator), ['core', 'core-2', 'routed'])
    drainAgent(orchestrator, 'routed')
    assert.deepEqual(listOperations(orchestrator), [])
  })
})

describe('undo of a submitted task', () => {
  const whole: SubmitTaskV1 = {
    description: 'Write\nit',
    priority: 'urgent',
    file_manifest: [
      {path: 'a.ts', access: 'write'},
      {path: 'b.ts', access: 'read'},
    ],
    processor: 'external',
    session_id: 's1',
    journey_id: 'j1',
    thread_id: 't1',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    correlation_id: 'c1',
    tenant_id: 'n1',
    target_agent: 'builder',
    capability_requirements: {min_cpu_cores: 1, labels: ['linux']},
    requires_approval: true,
    enqueue_hints: {
      complexity: 7,
      task_category: 'testing',
      execution_role: 'verifier',
      campaign_id: 'm1',
      model_preference: 'run-a',
      active_skill: 'sql',
      benchmark_tier: 'issue_repair',
      budget: {max_cost_usd: 2},
      lost_node: {after_ms: 60_000},
      tool_hints: ['grep'],
      research_hints: ['rfc'],
      is_detached: true,
    },
  }

  it('cancels the task, and redo submits it unchanged under a new id', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const first = submit(orchestrator)
    const {task_id: id} = submitTask(orchestrator, {
      ...whole,
      depends_on: [first],
      idempotency_key: 'k',
    })
    const before = requireTask(orchestrator, id)
    const undone = undoOperation(orchestrator, 'T-0002')
    assert.deepEqual(
      [undone.op_id, undone.operation, undone.summary, undone.undone, undone.task_id],
      ['OP-000001', 'submit_task', 'T-0002 submitted: Write it', true, 2],
    )
    const {status, status_reason} = requireTask(orchestrator, id)
    assert.deepEqual([status, status_reason], ['Cancelled', 'undone'])

    const redone = redoOperation(orchestrator, 'OP-000001')
    assert.deepEqual([redone.task_id, redone.summary], [3, 'T-0003 submitted in place of T-0002: Write it'])
    // The idempotency key stays with the original task.
    const same = (task: object) => ({...task, id: 0, display_id: '', uid: '', idempotency_key: ''})
    assert.deepEqual(same(requireTask(orchestrator, 3)), same(before))

    undoOperation(orchestrator, 'T-0003')
    assert.equal(redoOperation(orchestrator, 'T-0003').task_id, 4)
    assert.equal(statusOf(orchestrator, 4), 'BlockedOnApproval')
    assert.deepEqual(log(orchestrator), ['OP-000001 done: T-0004 submitted in place of T-0003: Write it'])
  })

  it('releases the file locks of the task', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submitWriter(orchestrator, ['a.ts'], {target_agent: 'one'})
    const second = () => submitWriter(orchestrator, ['a.ts'], {target_agent: 'two'})
    refused('lock_conflict', second)
    undoOperation(orchestrator, 'T-1')
    second()
    refused('lock_conflict', () => redoOperation(orchestrator, 'T-1'))
    assert.equal(listTasks(orchestrator).length, 2)
  })

  it('needs no log entry for the submission', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator)
    assert.deepEqual(listOperations(orchestrator), [])
  })

  it('fails once the task has started, even if it is queued again', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {processor: 'external'})
    takeClaim(orchestrator, {owner: 'me', ttlMs: 1000})
    const undo = () => undoOperation(orchestrator, 'T-0001')
    assert.equal(conflict(orchestrator, undo), 'T-0001 cannot be undone: T-0001 is now InProgress.')
    const {agent_name} = requireTask(orchestrator, id)
    spawnAgent(orchestrator, {name: 'other'})
    retireAgent(orchestrator, agent_name)
    assert.equal(statusOf(orchestrator, id), 'Queued')
    assert.equal(conflict(orchestrator, undo), 'T-0001 cannot be undone: T-0001 has already started.')
  })

  it('fails while another task depends on it', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    const later = submit(orchestrator, {depends_on: [id]})
    const undo = () => undoOperation(orchestrator, 'T-0001')
    assert.equal(conflict(orchestrator, undo), 'T-0001 cannot be undone: T-0002 depends on T-0001.')
    undoOperation(orchestrator, `T-${later}`)
    undo()
    assert.equal(statusOf(orchestrator, id), 'Cancelled')
  })

  it('fails if the task belongs to a step of a plan', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const {session_id: plan} = diamond(orchestrator)
    const {task_ids} = executePlan(orchestrator, plan)
    assert.deepEqual(task_ids, [1])
    assert.equal(
      conflict(orchestrator, () => undoOperation(orchestrator, 'T-0001')),
      `T-0001 cannot be undone: T-0001 belongs to step n1 of ${plan}.`,
    )
    assert.equal(planStatus(orchestrator, plan).status, 'active')
  })

  it('fails the second time, and redo fails without an undo', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator)
    refused('operation_not_found', () => redoOperation(orchestrator, 'T-0001'))
    undoOperation(orchestrator, 'T-0001')
    for (const which of ['T-0001', 'OP-000001'])
      assert.match(
        conflict(orchestrator, () => undoOperation(orchestrator, which)),
        /^(T-0001|OP-000001) cannot be undone: it is already undone\.$/,
      )
    redoOperation(orchestrator, '1')
    assert.equal(
      conflict(orchestrator, () => redoOperation(orchestrator, '1')),
      'OP-000001 cannot be redone: it has not been undone.',
    )
  })
})

describe('the operation log', () => {
  it('is listed latest first, up to the limit', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const name of ['a', 'b', 'c']) spawnAgent(orchestrator, {name})
    assert.deepEqual(
      listOperations(orchestrator, {limit: 2}).map(({op_id}) => op_id),
      ['OP-000003', 'OP-000002'],
    )
  })

  it('contains only the operations of its repository, even in a shared store', async (t) => {
    const first = await openTestOrchestrator(t)
    const env = {SVC_WORKSPACE_JOURNEY_STORE: 'canonical', SVC_DB_PATH: first.store.path}
    const second = await openTestOrchestrator(t, {env})
    spawnAgent(first, {name: 'a'})
    assert.deepEqual(listOperations(second), [])
    refused('operation_not_found', () => undoOperation(second, '1'))
    assert.deepEqual(agentNames(first), ['a'])
  })

  it('rejects unknown and invalid operation ids', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    refused('operation_not_found', () => undoOperation(orchestrator, 'OP-000009'))
    refused('task_not_found', () => undoOperation(orchestrator, 'T-0009'))
    for (const word of ['', 'all', 'OP-', 'OP-0', 'A-01', '-1', '1.5'])
      refused('usage', () => undoOperation(orchestrator, word))
  })

  it('emits an event for each undo and redo', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    undoOperation(orchestrator, 'T-0001')
    redoOperation(orchestrator, 'OP-000001')
    const events = readEvents(orchestrator, {types: ['operation_undone', 'operation_redone']})
    assert.deepEqual(
      events.map(({kind}) => kind),
      [
        {
          type: 'operation_undone',
          op_id: 'OP-000001',
          operation: 'submit_task',
          summary: 'T-0001 submitted: work',
          task_id: id,
        },
        {
          type: 'operation_redone',
          op_id: 'OP-000001',
          operation: 'submit_task',
          summary: 'T-0002 submitted in place of T-0001: work',
          task_id: id + 1,
        },
      ],
    )
  })
})
