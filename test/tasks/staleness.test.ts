import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {cancelTask, listAgents, readEvents, requireTask, takeClaim, watchAgents} from '../../src/tasks/index.js'
import {dueContinuation, idleOf, stalenessOf, type WatchedAgent} from '../../src/tasks/upkeep/staleness.js'
import {openTestOrchestrator, startMs, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'

const minuteMs = 60_000

/** Lets time pass in steps of half a minute, with one round after each step. */
function pass(orchestrator: TestOrchestrator, minutes: number): void {
  for (let half = 0; half < 2 * minutes; half++) {
    orchestrator.clock.ms += minuteMs / 2
    orchestrator.store.transaction(() => watchAgents(orchestrator, startMs))
  }
}

const eventsOf = (orchestrator: TestOrchestrator, type: string) =>
  readEvents(orchestrator, {types: [type]}).map(({kind: {type: _, ...members}}) => members)

const opened = (t: TestContext, settings = '') => openTestOrchestrator(t, {toml: `[orchestrator]\n${settings}`})

const agent = (members: Partial<WatchedAgent> = {}): WatchedAgent => ({
  id: 1,
  name: 'core',
  kind: 'reserved',
  running: 0,
  last_active_ms: 0,
  waiting_since_ms: null,
  waiting_task: null,
  processor: null,
  idle_level: 0,
  continuations: 0,
  continued_at_ms: null,
  ...members,
})

describe('the staleness of an agent', () => {
  it('has levels at 1, 3, 5 and 10 thresholds without activity', () => {
    const at = (misses: number) => stalenessOf(misses * 1000, 1000)
    assert.deepEqual([0, 0.99, 1, 2.9, 3, 4.9, 5, 9.9, 10, 99].map(at), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    assert.equal(stalenessOf(1e9, 0), 0)
    assert.equal(stalenessOf(-1, 1000), 0)
  })

  it('counts only time in which it had something to do and was watched', () => {
    assert.equal(idleOf(agent(), 0, 5000), 0)
    assert.equal(idleOf(agent({waiting_since_ms: 3000}), 0, 5000), 2000)
    assert.equal(idleOf(agent({waiting_since_ms: 3000, last_active_ms: 4000}), 0, 5000), 1000)
    assert.equal(idleOf(agent({running: 1, last_active_ms: 1000}), 0, 5000), 4000)
    assert.equal(idleOf(agent({running: 1, last_active_ms: 1000}), 4500, 5000), 500)
    assert.equal(idleOf(agent({running: 1, last_active_ms: 9000}), 0, 5000), 0)
  })

  it('is emitted once per level', async (t) => {
    const orchestrator = await opened(t)
    submit(orchestrator, {processor: 'external'})
    pass(orchestrator, 12)
    assert.deepEqual(
      eventsOf(orchestrator, 'agent_idle'),
      [
        ['warn', 1],
        ['alert', 3],
        ['critical', 5],
        ['dead', 10],
      ].map(([level, minutes]) => ({agent_id: 1, level, idle_ms: Number(minutes) * minuteMs})),
    )
    assert.deepEqual(
      listAgents(orchestrator).map(({name, state}) => [name, state]),
      [['core', 'active']],
    )
  })

  it('starts again after activity', async (t) => {
    const orchestrator = await opened(t)
    submit(orchestrator, {processor: 'external'})
    submit(orchestrator, {processor: 'external'})
    pass(orchestrator, 2)
    takeClaim(orchestrator, {owner: 'me', ttlMs: 3_600_000})
    pass(orchestrator, 2)
    assert.deepEqual(
      eventsOf(orchestrator, 'agent_idle').map((event) => (event as {level?: string}).level),
      ['warn', 'warn'],
    )
  })

  it('ignores agents without due tasks, paused agents, and a threshold of 0', async (t) => {
    const orchestrator = await opened(t)
    submit(orchestrator, {not_before_ms: startMs + 1e9})
    pass(orchestrator, 12)
    assert.deepEqual(eventsOf(orchestrator, 'agent_idle'), [])
    const never = await opened(t, 'stale_threshold_ms = 0\n')
    submit(never)
    pass(never, 12)
    assert.deepEqual(eventsOf(never, 'agent_idle'), [])
  })

  it('retires a dynamic agent that is dead and moves its tasks', async (t) => {
    const orchestrator = await opened(t)
    submit(orchestrator, {processor: 'external'})
    cancelTask(orchestrator, 1)
    const id = submit(orchestrator, {processor: 'external', target_agent: 'helper'})
    assert.equal(listAgents(orchestrator)[1]?.kind, 'dynamic')
    pass(orchestrator, 9.5)
    assert.equal(requireTask(orchestrator, id).agent_name, 'helper')
    pass(orchestrator, 0.5)
    assert.deepEqual(
      [requireTask(orchestrator, id).agent_name, requireTask(orchestrator, id).status],
      ['core', 'Queued'],
    )
    assert.deepEqual(
      listAgents(orchestrator).map(({name}) => name),
      ['core'],
    )
  })

  it('keeps a dynamic agent whose task is in progress, and the last agent', async (t) => {
    const orchestrator = await opened(t, 'min_agents = 0\n')
    submit(orchestrator, {processor: 'external', target_agent: 'helper'})
    pass(orchestrator, 12)
    assert.equal(listAgents(orchestrator).length, 1)
    spawnAgent(orchestrator, {name: 'core'})
    takeClaim(orchestrator, {owner: 'me', ttlMs: 3_600_000})
    pass(orchestrator, 12)
    assert.equal(listAgents(orchestrator).length, 2)
  })
})

describe('an idle workspace', () => {
  it('is reported once until there is work again', async (t) => {
    const orchestrator = await opened(t, 'idle_timeout_ms = 120000\n')
    submit(orchestrator, {processor: 'external'})
    cancelTask(orchestrator, 1)
    pass(orchestrator, 5)
    assert.deepEqual(eventsOf(orchestrator, 'orchestrator_idle'), [{idle_ms: 2 * minuteMs}])
    submit(orchestrator, {processor: 'external'})
    takeClaim(orchestrator, {owner: 'me'})
    cancelTask(orchestrator, 2)
    pass(orchestrator, 5)
    assert.equal(eventsOf(orchestrator, 'orchestrator_idle').length, 2)
  })

  it('is not reported while a task waits, or if the timeout is 0', async (t) => {
    const waiting = await opened(t, 'idle_timeout_ms = 1000\n')
    submit(waiting, {not_before_ms: startMs + 1e9})
    const never = await opened(t, 'idle_timeout_ms = 0\n')
    for (const orchestrator of [waiting, never]) {
      pass(orchestrator, 2)
      assert.deepEqual(eventsOf(orchestrator, 'orchestrator_idle'), [])
    }
  })
})

describe('automatic continuation', () => {
  const config = {
    staleThresholdMs: 1000,
    autoContinueEnabled: true,
    continuationCooldownMs: 500,
    maxAutoContinuations: 2,
  }

  it('is due after the threshold and the cooldown, up to its maximum', () => {
    const due = (members: Partial<WatchedAgent>, idleMs = 1000, more = {}) =>
      dueContinuation(agent(members), idleMs, {...config, ...more}, 10_000)
    assert.equal(due({}), 1)
    assert.equal(due({}, 999), undefined)
    assert.equal(due({}, 1000, {autoContinueEnabled: false}), undefined)
    assert.equal(due({continuations: 1, continued_at_ms: 9501}), undefined)
    assert.equal(due({continuations: 1, continued_at_ms: 9500}), 2)
    assert.equal(due({continuations: 2, continued_at_ms: 9000}), undefined)
    assert.equal(due({continuations: 2, continued_at_ms: 8000, last_active_ms: 8001}), 1)
    assert.equal(due({}, 1000, {maxAutoContinuations: 0}), undefined)
  })

  it('submits background tasks to the agent without progress', async (t) => {
    const settings = 'auto_continue_enabled = true\ncontinuation_cooldown_ms = 60000\nmax_auto_continuations = 2\n'
    const orchestrator = await opened(t, settings)
    submit(orchestrator, {processor: 'external'})
    pass(orchestrator, 6)
    assert.deepEqual(eventsOf(orchestrator, 'continuation_triggered'), [
      {task_id: 2, agent_id: 1, continuation: 1, idle_ms: minuteMs},
      {task_id: 3, agent_id: 1, continuation: 2, idle_ms: 2 * minuteMs},
    ])
    const {description, priority, processor, agent_name} = requireTask(orchestrator, 2)
    assert.deepEqual(
      [description, priority, processor, agent_name],
      ['Continue with the waiting tasks of core, starting with T-0001.', 'background', 'external', 'core'],
    )
  })

  it('is off by default', async (t) => {
    const orchestrator = await opened(t)
    submit(orchestrator)
    pass(orchestrator, 3)
    assert.deepEqual(eventsOf(orchestrator, 'continuation_triggered'), [])
  })
})
