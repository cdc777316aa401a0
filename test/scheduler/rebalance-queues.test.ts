import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {setPaused, spawnAgent} from '../../src/orchestrator/index.js'
import {rebalance} from '../../src/scheduler/index.js'
import {listAgents, readEvents, requireTask} from '../../src/tasks/index.js'
import {requeueRow} from '../../src/tasks/lifecycle/finish.js'
import {requireRow} from '../../src/tasks/lifecycle/task-rows.js'
import {sweepLocks} from '../../src/tasks/locks.js'
import {openTestOrchestrator, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {keptCounters, recount} from '../orchestrator/support/recount.js'
import {runAll, start, statusOf, submit, submitWriter} from '../orchestrator/support/tasks.js'

/** A workspace with an agent that gets the tasks of the test, and two idle ones. */
async function lopsided(t: TestContext, toml = '') {
  const orchestrator = await openTestOrchestrator(t, {toml: `[orchestrator]\nmin_agents = 0\n${toml}`})
  for (const name of ['busy', 'idle', 'lazy']) spawnAgent(orchestrator, {name})
  return orchestrator
}

const busy = {target_agent: 'busy'}
const queues = (orchestrator: TestOrchestrator) => listAgents(orchestrator).map(({queued}) => queued)
const agentOf = (orchestrator: TestOrchestrator, id: number) => requireTask(orchestrator, id).agent_name

describe('a rebalance', () => {
  it('moves waiting tasks to less busy agents, lowest priority and latest first', async (t) => {
    const orchestrator = await lopsided(t)
    const running = start(orchestrator, submit(orchestrator, busy))
    const tasks = ['normal', 'urgent', 'background', 'normal'].map((priority) =>
      submit(orchestrator, {...busy, priority}),
    )
    const moves = rebalance(orchestrator)
    assert.deepEqual(
      moves.map(({taskId}) => taskId),
      [tasks[2], tasks[3]],
    )
    assert.deepEqual(queues(orchestrator), [2, 1, 1])
    assert.deepEqual([agentOf(orchestrator, running), statusOf(orchestrator, running)], ['busy', 'InProgress'])
    assert.deepEqual(keptCounters(orchestrator), recount(orchestrator))
    const events = readEvents(orchestrator, {types: ['task_moved']})
    assert.deepEqual(
      events.map(({kind}) => kind.type === 'task_moved' && [kind.task_id, kind.from_agent_id, kind.agent_id]),
      moves.map(({taskId, from, to}) => [taskId, from, to]),
    )
  })

  it('moves nothing between equal loads or right after a rebalance', async (t) => {
    const orchestrator = await lopsided(t)
    for (const target_agent of ['busy', 'idle', 'lazy']) submit(orchestrator, {target_agent})
    assert.deepEqual(rebalance(orchestrator), [])
    for (let i = 0; i < 20; i++) submit(orchestrator, busy)
    let rounds = 0
    while (rebalance(orchestrator).length > 0) assert.ok(++rounds < 50, 'it never ends')
    const [most = 0, ...others] = queues(orchestrator)
    for (const other of others) assert.ok(most - other <= 4, queues(orchestrator).join())
  })

  it('moves nothing to a paused agent', async (t) => {
    const orchestrator = await lopsided(t)
    for (let i = 0; i < 6; i++) submit(orchestrator, busy)
    setPaused(orchestrator, 'idle', true)
    rebalance(orchestrator)
    assert.equal(queues(orchestrator)[1], 0)
  })

  it('moves no task to an agent that lacks its requirements', async (t) => {
    const orchestrator = await lopsided(t)
    for (let i = 0; i < 6; i++) submit(orchestrator, {...busy, enqueue_hints: {required_labels: ['pool=gpu']}})
    assert.deepEqual(rebalance(orchestrator), [])
    spawnAgent(orchestrator, {name: 'gpu', labels: ['pool=gpu']})
    assert.ok(rebalance(orchestrator).every(({to}) => to === 4))
    assert.equal(queues(orchestrator)[3], 1)
  })

  it('moves the locks and files of a task', async (t) => {
    const orchestrator = await lopsided(t)
    for (let i = 0; i < 3; i++) submit(orchestrator, {...busy, priority: 'urgent'})
    const task = submitWriter(orchestrator, ['a.ts', 'b.ts'], busy)
    assert.deepEqual(
      rebalance(orchestrator)
        .map(({taskId}) => taskId)
        .slice(0, 1),
      [task],
    )
    const {agent_id} = requireTask(orchestrator, task)
    assert.notEqual(agent_id, 1)
    for (const table of ['orch_locks', 'orch_affinity'])
      assert.deepEqual(orchestrator.store.all(`SELECT DISTINCT agent_id FROM ${table}`), [{agent_id}])
    start(orchestrator, task)
  })

  it('moves the files of a task even if its locks have expired', async (t) => {
    const orchestrator = await lopsided(t)
    for (let i = 0; i < 3; i++) submit(orchestrator, {...busy, priority: 'urgent'})
    const task = submitWriter(orchestrator, ['a.ts'], busy)
    orchestrator.clock.ms += 60_000
    sweepLocks(orchestrator)
    rebalance(orchestrator)
    const {agent_id} = requireTask(orchestrator, task)
    assert.notEqual(agent_id, 1)
    assert.deepEqual(orchestrator.store.all('SELECT agent_id FROM orch_affinity'), [{agent_id}])
  })

  it('never creates a deadlock on a file', async (t) => {
    const orchestrator = await lopsided(t)
    const tasks = Array.from({length: 6}, () => submitWriter(orchestrator, ['a.ts'], busy))
    rebalance(orchestrator)
    const done = listAgents(orchestrator).flatMap(({id}) => runAll(orchestrator, id))
    assert.ok(done.length > 0, `none of ${tasks.length} tasks can be started`)
  })

  it('never creates a deadlock on a file with a task that ran before', async (t) => {
    const orchestrator = await lopsided(t)
    const first = submitWriter(orchestrator, ['a.ts'], busy)
    const runOnce = () => requeueRow(orchestrator, requireRow(orchestrator, start(orchestrator, first)), 'test')
    runOnce()
    orchestrator.clock.ms += 60_000
    const second = submitWriter(orchestrator, ['a.ts'], {...busy, priority: 'background'})
    runOnce()
    for (let i = 0; i < 3; i++) submit(orchestrator, busy)
    rebalance(orchestrator)
    assert.notEqual(agentOf(orchestrator, second), agentOf(orchestrator, first))
    const done = listAgents(orchestrator).flatMap(({id}) => runAll(orchestrator, id))
    assert.ok(done.includes(first) || done.includes(second), 'both wait for each other')
  })

  for (const [preference, target] of [
    ['performance', 'idle'],
    ['economy', 'cheap'],
  ] as const)
    it(`chooses ${target} if cost_preference is ${preference}`, async (t) => {
      const prices = '\n[orchestrator.model_prices]\ndear = 0.1\nlow = 0.0001\n'
      const orchestrator = await lopsided(t, `cost_preference = "${preference}"\n${prices}`)
      spawnAgent(orchestrator, {name: 'cheap', model: 'low'})
      spawnAgent(orchestrator, {name: 'dear', model: 'dear'})
      for (let i = 0; i < 4; i++) submit(orchestrator, busy)
      const [first] = rebalance(orchestrator)
      assert.equal(listAgents(orchestrator).find(({id}) => id === first?.to)?.name, target)
    })

  it('of urgent tasks moves no others', async (t) => {
    const orchestrator = await lopsided(t)
    for (let i = 0; i < 5; i++) submit(orchestrator, {...busy, priority: 'urgent'})
    for (let i = 0; i < 9; i++) submit(orchestrator, busy)
    const moves = rebalance(orchestrator, {urgentOnly: true})
    assert.equal(moves.length, 2)
    for (const {taskId} of moves) assert.equal(requireTask(orchestrator, taskId).priority, 'urgent')
    assert.deepEqual(
      listAgents(orchestrator).map(({queued_urgent, queued_normal}) => [queued_urgent, queued_normal]),
      [
        [3, 9],
        [1, 0],
        [1, 0],
      ],
    )
  })
})
