import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {reorderTask, setPaused, spawnAgent} from '../../src/orchestrator/index.js'
import {
  doubtTask,
  drainAgent,
  listAgents,
  listTasks,
  mapSession,
  readEvents,
  requireAgent,
  requireTask,
  retireAgent,
  takeClaim,
} from '../../src/tasks/index.js'
import {requeueRow} from '../../src/tasks/lifecycle/finish.js'
import {requireRow} from '../../src/tasks/lifecycle/task-rows.js'
import {
  contents,
  openTestOrchestrator,
  refused,
  type TestOrchestrator,
} from '../orchestrator/support/open-test-orchestrator.js'
import {
  acceptTask,
  claimOf,
  fail,
  runAll,
  start,
  startOne,
  statusOf,
  submit,
  submitWriter,
} from '../orchestrator/support/tasks.js'

const coreOf = (orchestrator: TestOrchestrator) => requireAgent(orchestrator, 'core').id

describe('the queue of an agent', () => {
  const priorities = {N: 'normal', U: 'urgent', B: 'background'} as const

  /** Submits tasks named like `N1`; returns their names in the order in which they run. */
  async function order(
    t: TestContext,
    names: string,
    between: (orchestrator: TestOrchestrator) => void = () => undefined,
  ) {
    const orchestrator = await openTestOrchestrator(t)
    for (const name of names.split(' ')) {
      submit(orchestrator, {description: name, priority: priorities[name[0] as 'N']})
      between(orchestrator)
    }
    return runAll(orchestrator, coreOf(orchestrator))
      .map((id) => requireTask(orchestrator, id).description)
      .join(' ')
  }

  it('runs urgent tasks first, then normal ones, and tasks of one priority in order of submission', async (t) => {
    assert.equal(await order(t, 'N1 U2 B3 N4'), 'U2 N1 N4 B3')
    assert.equal(await order(t, 'B1 B2 N3 N4 U5 U6'), 'U5 U6 N3 N4 B1 B2')
  })

  for (const [how, ms] of [
    ['backward', -3_600_000],
    ['forward', 3_600_000],
  ] as const)
    it(`keeps its order when the clock steps ${how} between submissions`, async (t) => {
      const step = (orchestrator: TestOrchestrator) => {
        orchestrator.clock.ms += ms
      }
      assert.equal(await order(t, 'N1 U2 B3 N4 N5', step), 'U2 N1 N4 N5 B3')
    })

  it('runs a requeued task before later ones', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const [first, second] = [submit(orchestrator), submit(orchestrator)]
    start(orchestrator, first)
    orchestrator.clock.ms += 1000
    requeueRow(orchestrator, requireRow(orchestrator, first), 'test')
    const urgent = submit(orchestrator, {priority: 'urgent'})
    assert.deepEqual(runAll(orchestrator, coreOf(orchestrator)), [urgent, first, second])
  })

  it('places a task with a changed priority by its id', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const [a = 0, b = 0, c = 0, d = 0] = ['normal', 'urgent', 'normal', 'urgent'].map((priority) =>
      submit(orchestrator, {priority}),
    )
    assert.equal(reorderTask(orchestrator, a, 'urgent').priority, 'urgent')
    reorderTask(orchestrator, b, 'background')
    assert.deepEqual(runAll(orchestrator, coreOf(orchestrator)), [a, d, c, b])
  })

  it('never preempts a running task for an urgent one', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const slow = start(orchestrator, submit(orchestrator, {priority: 'background'}))
    submit(orchestrator, {priority: 'urgent'})
    assert.equal(statusOf(orchestrator, slow), 'InProgress')
    refused('invalid_transition', () => reorderTask(orchestrator, slow, 'urgent'))
  })
})

describe('a new agent', () => {
  it('has the configured capabilities and its own labels', async (t) => {
    const toml = '[orchestrator.default_agent_capabilities]\nmin_vram_mb = 8192\nlabels = ["pool=dev"]\n'
    const orchestrator = await openTestOrchestrator(t, {toml, env: {SVC_MESH_ADVERTISE_NPU: 'true'}})
    spawnAgent(orchestrator, {name: 'gpu', labels: ['region=eu', 'pool=dev'], model: 'm', reason: 'asked for'})
    const [agent] = listAgents(orchestrator)
    assert.deepEqual(agent?.capabilities.labels, ['pool=dev', 'region=eu'])
    assert.deepEqual([agent?.capabilities.min_vram_mb, agent?.capabilities.npu], [8192, true])
    assert.ok((agent?.capabilities.cpu_cores ?? 0) > 0)
    const {model, kind, spawn_reason, state, queued, weighted_load, display_id} = agent ?? assert.fail('no agent')
    assert.deepEqual(
      {model, kind, spawn_reason, state, queued, weighted_load, display_id},
      {
        model: 'm',
        kind: 'reserved',
        spawn_reason: 'asked for',
        state: 'active',
        queued: 0,
        weighted_load: 0,
        display_id: 'A-01',
      },
    )
  })

  it('is rejected if its name is taken, reserved or invalid', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'docs'})
    assert.deepEqual(refused('agent_exists', () => spawnAgent(orchestrator, {name: ' docs '})).params, {
      name: 'docs',
      agent: 'A-01',
    })
    for (const name of ['', ' ', 'resolution', 'a/b', 'a\\b', 'a\nb', 'x'.repeat(129)])
      refused('usage', () => spawnAgent(orchestrator, {name}))
    assert.equal(listAgents(orchestrator).length, 1)
    retireAgent(orchestrator, 'docs')
    assert.equal(spawnAgent(orchestrator, {name: 'docs'}).id, 2)
  })

  it('is found by id even if another one is named like it', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: '2'})
    const second = spawnAgent(orchestrator, {name: 'second'})
    assert.deepEqual([second.id, second.name], [2, 'second'])
  })

  it('can have a parent, which must exist', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = spawnAgent(orchestrator, {name: 'parent'})
    assert.equal(spawnAgent(orchestrator, {name: 'child', parent: 'A-01'}).parent_agent_id, parent.id)
    refused('delegation_parent_not_found', () => spawnAgent(orchestrator, {name: 'orphan', parent: 'nobody'}))
  })

  it('is rejected at max_agents, not counting retired agents and the resolution agent', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmax_agents = 2\n'})
    spawnAgent(orchestrator, {name: 'a'})
    spawnAgent(orchestrator, {name: 'b'})
    doubtTask(orchestrator, submit(orchestrator))
    assert.equal(refused('max_agents_reached', () => spawnAgent(orchestrator, {name: 'c'})).params.limit, 2)
    retireAgent(orchestrator, 'a')
    spawnAgent(orchestrator, {name: 'c'})
  })

  it('is suggested for a misspelt name', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'builder'})
    const {params} = refused('agent_not_found', () => setPaused(orchestrator, 'bilder', true))
    assert.deepEqual(params, {agent: 'bilder', suggestion: 'builder'})
  })
})

describe('the status of an agent', () => {
  it('counts its tasks and describes its task in progress', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const name of ['core', 'other']) spawnAgent(orchestrator, {name})
    const target_agent = 'core'
    const running = submit(orchestrator, {target_agent, enqueue_hints: {active_skill: 'sql'}})
    for (const priority of ['urgent', 'normal', 'normal', 'background'])
      submit(orchestrator, {target_agent, priority, processor: 'external'})
    orchestrator.store.run('UPDATE orch_tasks SET handoff_count = id')
    start(orchestrator, running)
    orchestrator.store.run("UPDATE orch_tasks SET current_phase = 'act' WHERE id = ?", [running])
    doubtTask(orchestrator, submit(orchestrator, {target_agent}))
    mapSession(orchestrator, 'core', 's-1')
    setPaused(orchestrator, 'core', true)
    spawnAgent(orchestrator, {name: 'extra', kind: 'dynamic'})
    const statusRow = (name: string) => {
      const agent = listAgents(orchestrator).find((each) => each.name === name) ?? assert.fail(name)
      const {queued, urgent_count, normal_count, background_count, doubted_count, completed, max_handoff_count} = agent
      const {in_progress, paused, dynamic, agent_session_id, active_skill, current_phase} = agent
      return [
        [queued, urgent_count, normal_count, background_count, doubted_count, completed, max_handoff_count],
        [in_progress, paused, dynamic, agent_session_id, active_skill, current_phase],
      ]
    }
    assert.deepEqual(statusRow('core'), [
      [4, 1, 2, 1, 0, 0, 5],
      [true, true, false, 's-1', 'sql', 'act'],
    ])
    assert.deepEqual(statusRow('resolution'), [
      [0, 0, 0, 0, 1, 0, 0],
      [false, false, false, null, null, undefined],
    ])
    assert.deepEqual(statusRow('extra'), [
      [0, 0, 0, 0, 0, 0, 0],
      [false, false, true, null, null, undefined],
    ])
    acceptTask(orchestrator, running, undefined, claimOf(orchestrator, running))
    for (const id of runAll(orchestrator, coreOf(orchestrator))) assert.fail(String(id))
    assert.deepEqual(statusRow('core')[1], [false, true, false, 's-1', null, undefined])
  })
})

describe('a paused agent', () => {
  it('finishes its task and starts no other until it is resumed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const [first, second] = [1, 2].map(() => submit(orchestrator, {processor: 'external'}))
    const claimed = takeClaim(orchestrator, {owner: 'client'}).task.id
    setPaused(orchestrator, 'core', true)
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'client', agent: 'core'}))
    assert.equal(acceptTask(orchestrator, claimed, undefined, claimOf(orchestrator, claimed)).task.id, first)
    setPaused(orchestrator, 'core', false)
    assert.equal(takeClaim(orchestrator, {owner: 'client'}).task.id, second)
  })

  it('gets no new task while another agent is available', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'a'})
    spawnAgent(orchestrator, {name: 'b'})
    setPaused(orchestrator, 'a', true)
    const tasks = [1, 2, 3].map(() => requireTask(orchestrator, submit(orchestrator)).agent_name)
    assert.deepEqual(tasks, ['b', 'b', 'b'])
  })

  it('gets no task for its group while another agent is available', async (t) => {
    const toml = '[[affinity_groups]]\nname = "docs"\npatterns = ["docs/**"]\n'
    const orchestrator = await openTestOrchestrator(t, {toml})
    spawnAgent(orchestrator, {name: 'docs'})
    spawnAgent(orchestrator, {name: 'other'})
    setPaused(orchestrator, 'docs', true)
    const {agent_name} = requireTask(orchestrator, submitWriter(orchestrator, ['docs/a.md']))
    assert.equal(agent_name, 'other')
  })

  it('emits one event even if it is paused repeatedly', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'a'})
    for (const paused of [true, true, false, false]) setPaused(orchestrator, 'A-01', paused)
    const events = readEvents(orchestrator, {types: ['agent_paused', 'agent_resumed']})
    assert.deepEqual(
      events.map(({kind}) => kind.type),
      ['agent_paused', 'agent_resumed'],
    )
  })
})

/** A workspace in which `worker` has a task in every open state, and `other` has none. */
async function busyWorker(t: TestContext) {
  const orchestrator = await openTestOrchestrator(t)
  const target_agent = 'worker'
  const running = submit(orchestrator, {target_agent})
  const queued = [1, 2, 3].map(() => submit(orchestrator, {target_agent}))
  const blocked = submit(orchestrator, {target_agent, depends_on: [running]})
  const waiting = submit(orchestrator, {target_agent, requires_approval: true})
  const doubted = doubtTask(orchestrator, submit(orchestrator, {target_agent})).id
  start(orchestrator, running)
  retireAgent(orchestrator, 'core')
  spawnAgent(orchestrator, {name: 'other'})
  return {orchestrator, running, queued, blocked, waiting, doubted}
}

describe('a drained agent', () => {
  it('moves its waiting tasks, finishes its running one, and gets no new tasks', async (t) => {
    const {orchestrator, running, queued, blocked, waiting, doubted} = await busyWorker(t)
    const {moved, agent} = drainAgent(orchestrator, 'worker')
    assert.deepEqual(new Set(moved), new Set([...queued, blocked, waiting]))
    assert.equal(agent.state, 'paused')
    for (const id of moved) assert.equal(requireTask(orchestrator, id).agent_name, 'other')
    assert.deepEqual([statusOf(orchestrator, running), statusOf(orchestrator, doubted)], ['InProgress', 'Doubted'])
    assert.equal(requireTask(orchestrator, submit(orchestrator)).agent_name, 'other')
    acceptTask(orchestrator, running, undefined, claimOf(orchestrator, running))
    assert.deepEqual(runAll(orchestrator, requireAgent(orchestrator, 'other').id).slice(0, 4), [...queued, blocked])
  })

  it('is rejected if no other agent could take its tasks', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator)
    submit(orchestrator)
    const before = contents(orchestrator)
    assert.deepEqual(refused('last_agent', () => drainAgent(orchestrator, 'core')).params, {
      agent: 'core (A-01)',
      tasks: 2,
    })
    assert.deepEqual(contents(orchestrator), before)
  })
})

describe('a retired agent', () => {
  it('loses no tasks: the running one is requeued, and all move to other agents', async (t) => {
    const {orchestrator, running, queued, blocked, waiting, doubted} = await busyWorker(t)
    const {moved} = retireAgent(orchestrator, 'worker')
    assert.deepEqual(moved, [running, ...queued, blocked, waiting])
    for (const id of moved) assert.equal(requireTask(orchestrator, id).agent_name, 'other')
    assert.deepEqual(
      [running, blocked, waiting, doubted].map((id) => statusOf(orchestrator, id)),
      ['Queued', 'Blocked', 'BlockedOnApproval', 'Doubted'],
    )
    assert.equal(requireTask(orchestrator, running).retry_count, 1)
    assert.deepEqual(runAll(orchestrator, requireAgent(orchestrator, 'other').id), [running, ...queued, blocked])
    assert.deepEqual(
      listAgents(orchestrator).map(({name}) => name),
      ['resolution', 'other'],
    )
    refused('agent_not_found', () => retireAgent(orchestrator, 'worker'))
  })

  it('rejects the late result of its running task', async (t) => {
    const {orchestrator, running} = await busyWorker(t)
    const {claim_generation: generation} = requireRow(orchestrator, running)
    retireAgent(orchestrator, 'worker')
    const before = contents(orchestrator)
    refused('claim_lost', () => acceptTask(orchestrator, running, {text: 'late'}, {generation}))
    assert.deepEqual(contents(orchestrator), before)
  })

  it('is rejected unchanged if it is the last one and has tasks', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    start(orchestrator, submit(orchestrator))
    const before = contents(orchestrator)
    refused('last_agent', () => retireAgent(orchestrator, 'core'))
    assert.deepEqual(contents(orchestrator), before)
  })

  for (const leave of [drainAgent, retireAgent])
    it(`moves the tasks of its group too (${leave.name})`, async (t) => {
      const toml = '[[affinity_groups]]\nname = "docs"\npatterns = ["docs/**"]\n'
      const orchestrator = await openTestOrchestrator(t, {toml})
      spawnAgent(orchestrator, {name: 'other'})
      const task = submitWriter(orchestrator, ['docs/a.md'])
      assert.equal(requireTask(orchestrator, task).agent_name, 'docs')
      leave(orchestrator, 'docs')
      const {agent_id, agent_name} = requireTask(orchestrator, task)
      assert.notEqual(agent_name, 'docs')
      assert.equal(startOne(orchestrator, agent_id), task)
    })

  for (const leave of [drainAgent, retireAgent])
    it(`moves its general tasks too (${leave.name})`, async (t) => {
      const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nfallback_to_single_agent = false\n'})
      const task = submit(orchestrator)
      assert.equal(requireTask(orchestrator, task).agent_name, 'general')
      leave(orchestrator, 'general')
      assert.equal(requireTask(orchestrator, task).agent_name, 'core')
    })

  it('leaves tasks on one file to other agents, which run them in sequence', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const name of ['a', 'b', 'c']) spawnAgent(orchestrator, {name})
    const tasks = [1, 2, 3, 4].map(() => submitWriter(orchestrator, ['x.ts'], {target_agent: 'a'}))
    retireAgent(orchestrator, 'a')
    const done = new Set<number>()
    for (let round = 0; round < 4; round++) {
      for (const {id} of listAgents(orchestrator)) for (const task of runAll(orchestrator, id)) done.add(task)
      orchestrator.clock.ms += 1000
    }
    assert.deepEqual(done, new Set(tasks))
  })

  it('stays in the records of its tasks', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'other'})
    const task = submit(orchestrator, {target_agent: 'worker'})
    fail(orchestrator, task)
    retireAgent(orchestrator, 'worker')
    assert.deepEqual(
      listTasks(orchestrator).map(({agent_name, status}) => [agent_name, status]),
      [['worker', 'Failed']],
    )
  })
})

describe('the resolution agent', () => {
  it('cannot be paused, drained or retired', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    doubtTask(orchestrator, submit(orchestrator))
    refused('usage', () => setPaused(orchestrator, 'resolution', true))
    refused('usage', () => drainAgent(orchestrator, 'resolution'))
    refused('usage', () => retireAgent(orchestrator, 'resolution'))
  })

  it('gets no tasks to run', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    doubtTask(orchestrator, submit(orchestrator))
    refused('usage', () => submit(orchestrator, {target_agent: 'resolution'}))
  })
})
