import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {scalingTick} from '../../src/scheduler/scaling/tick.js'
import {listAgents, readEvents, submitBatch, takeClaim, writeNodePoll} from '../../src/tasks/index.js'
import {openTestOrchestrator, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, claimOf, runAll, startOne, submit} from '../orchestrator/support/tasks.js'

/** A workspace with these scaling settings. */
const scaled = (t: TestContext, settings: Readonly<Record<string, string | number | boolean>> = {}) => {
  const all = {scaling_enabled: true, resource_weight: 0, ...settings}
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
  return openTestOrchestrator(t, {toml: `[orchestrator]\n${lines.join('')}`})
}

const tick = (orchestrator: TestOrchestrator, usage = {cpu: 0, memory: 0}) => scalingTick(orchestrator, usage)

/** Ten normal tasks of default complexity: a load of 10. */
const load = (orchestrator: TestOrchestrator, count = 10, priority = 'normal') =>
  submitBatch(
    orchestrator,
    Array.from({length: count}, () => ({description: 'work', priority})),
  )

const agentsOf = (orchestrator: TestOrchestrator) => listAgents(orchestrator).map(({name}) => name)

/** Empties every queue. */
const work = (orchestrator: TestOrchestrator) => {
  for (const {id} of listAgents(orchestrator)) runAll(orchestrator, id)
}

describe('a tick under load', () => {
  it('starts agents for the load and gives them a share of the waiting tasks', async (t) => {
    const orchestrator = await scaled(t)
    load(orchestrator)
    const {spawned} = tick(orchestrator)
    assert.equal(spawned.length, 2)
    for (const name of spawned) assert.match(name, /^transient-[0-9a-f]{8}$/)
    const agents = listAgents(orchestrator)
    assert.deepEqual(
      agents.map(({kind, spawn_reason}) => [kind, spawn_reason]),
      [
        ['reserved', 'min_agents'],
        ['dynamic', 'scaling_load'],
        ['dynamic', 'scaling_load'],
      ],
    )
    for (const {queued} of agents) assert.ok(queued > 0)
    assert.equal(readEvents(orchestrator, {types: ['agent_spawned']}).length, 3)
  })

  it('starts only min_agents if scaling is disabled', async (t) => {
    const orchestrator = await scaled(t, {scaling_enabled: false, min_agents: 2})
    load(orchestrator, 100)
    assert.deepEqual(tick(orchestrator).spawned, [])
    assert.deepEqual(agentsOf(orchestrator), ['core', 'core-2'])
  })

  /** Two values of each setting, and the number of agents started for a load of 10. */
  const settings: readonly (readonly [
    name: string,
    ...outcomes: (readonly [value: string | number, count: number])[],
  ])[] = [
    ['scaling_profile', ['conservative', 1], ['balanced', 2], ['aggressive', 2]],
    ['scaling_threshold', [5, 2], [11, 0]],
    ['max_agents', [8, 2], [2, 1]],
    ['max_spawn_per_tick', [5, 2], [1, 1]],
    ['min_agents', [1, 2], [3, 0]],
  ]
  for (const [name, ...outcomes] of settings)
    for (const [value, count] of outcomes)
      it(`starts ${count} if ${name} is ${value}`, async (t) => {
        const orchestrator = await scaled(t, {[name]: value})
        load(orchestrator)
        assert.equal(tick(orchestrator).spawned.length, count)
      })

  for (const [weight, count] of [
    [0, 0],
    [1, 1],
  ] as const)
    it(`starts ${count} on a busy machine if resource_weight is ${weight}`, async (t) => {
      const orchestrator = await scaled(t, {resource_weight: weight})
      load(orchestrator, 4)
      assert.equal(tick(orchestrator, {cpu: 1, memory: 1}).spawned.length, count)
    })

  for (const [name, value, count] of [
    ['resource_cpu_multiplier', 0.7, 1],
    ['resource_cpu_multiplier', 0.1, 0],
    ['resource_mem_multiplier', 0.3, 1],
    ['resource_mem_multiplier', 0, 0],
    ['resource_exponent', 1, 1],
    ['resource_exponent', 4, 0],
  ] as const)
    it(`starts ${count} on a half-busy machine if ${name} is ${value}`, async (t) => {
      const orchestrator = await scaled(t, {resource_weight: 1, [name]: value})
      load(orchestrator, 4)
      assert.equal(tick(orchestrator, {cpu: 0.25, memory: 0.3}).spawned.length, count)
    })

  for (const [lookback, count] of [
    [1, 0],
    [5, 1],
  ] as const)
    it(`starts ${count} ahead of a rising load if scaling_lookback_ticks is ${lookback}`, async (t) => {
      const orchestrator = await scaled(t, {scaling_lookback_ticks: lookback})
      load(orchestrator, 1)
      assert.deepEqual(tick(orchestrator).spawned, [])
      load(orchestrator, 3)
      assert.equal(tick(orchestrator).spawned.length, count)
    })

  for (const [cooldown, count] of [
    [5000, 0],
    [1000, 2],
  ] as const)
    it(`starts ${count} more after 2 seconds if scaling_cooldown_ms is ${cooldown}`, async (t) => {
      const orchestrator = await scaled(t, {scaling_cooldown_ms: cooldown, max_spawn_per_tick: 2})
      load(orchestrator, 40)
      assert.equal(tick(orchestrator).spawned.length, 2)
      orchestrator.clock.ms += 2000
      assert.equal(tick(orchestrator).spawned.length, count)
    })

  it('starts more in time even after the clock was set back', async (t) => {
    const orchestrator = await scaled(t, {max_spawn_per_tick: 1})
    load(orchestrator, 40)
    tick(orchestrator)
    orchestrator.clock.ms -= 3_600_000
    tick(orchestrator)
    orchestrator.clock.ms += 60_000
    tick(orchestrator)
    assert.ok(agentsOf(orchestrator).length > 2, `${agentsOf(orchestrator).length} agents`)
  })

  for (const [budget, count] of [
    [50_000, 0],
    [0, 2],
  ] as const)
    it(`starts ${count} if an agent has cost 0.05 dollars and the budget is ${budget} millionths`, async (t) => {
      const orchestrator = await scaled(t, {financial_cost_budget_micros: budget})
      load(orchestrator)
      orchestrator.store.run('UPDATE orch_agents SET cost_usd_micros = 50000')
      assert.equal(tick(orchestrator).spawned.length, count)
    })

  for (const [says, more, count] of [
    ['a node with a GPU could take some', {}, 0],
    ['the node with a GPU is quarantined', {quarantined: true}, 1],
    ['the node has no GPU', {capabilities: {}}, 1],
  ] as const)
    it(`starts ${count} if ${says}`, async (t) => {
      const orchestrator = await scaled(t, {scaling_threshold: 10})
      const now = orchestrator.now()
      const node = {id: 'n', version: '1', capabilities: {gpu_cuda: true}, last_seen_unix_ms: now, ...more}
      writeNodePoll(orchestrator, {
        usableMs: 1000,
        registry: {schema_version: 1, nodes: [node]},
        listedAtMs: now,
        ownIds: new Set(),
      })
      load(orchestrator)
      assert.equal(tick(orchestrator).spawned.length, count)
    })

  it('starts none in an empty workspace', async (t) => {
    const orchestrator = await scaled(t)
    tick(orchestrator)
    const last = readEvents(orchestrator).at(-1)?.id
    for (let i = 0; i < 5; i++) assert.deepEqual(tick(orchestrator), {spawned: [], retired: [], moved: 0})
    assert.equal(readEvents(orchestrator).at(-1)?.id, last)
  })
})

describe('a tick without load', () => {
  /** A workspace with two agents that were started for load, and no tasks. */
  async function idle(t: TestContext, settings: Readonly<Record<string, string | number>> = {}) {
    const orchestrator = await scaled(t, settings)
    load(orchestrator)
    const {spawned} = tick(orchestrator)
    work(orchestrator)
    orchestrator.clock.ms += 10_000
    return {orchestrator, spawned}
  }

  for (const [profile, ms] of [
    ['conservative', 180_000],
    ['balanced', 300_000],
    ['aggressive', 450_000],
  ] as const)
    it(`retires dynamic agents idle for more than ${ms} ms with the ${profile} profile`, async (t) => {
      const {orchestrator, spawned} = await idle(t, {scaling_profile: profile})
      orchestrator.clock.ms += ms - 10_000
      assert.deepEqual(tick(orchestrator).retired, [])
      orchestrator.clock.ms += 1
      assert.deepEqual(new Set(tick(orchestrator).retired), new Set(spawned))
      assert.deepEqual(agentsOf(orchestrator), ['core'])
    })

  for (const [idleMs, count] of [
    [300_000, 0],
    [1000, 2],
  ] as const)
    it(`retires ${count} after ten seconds if idle_retirement_ms is ${idleMs}`, async (t) => {
      const {orchestrator} = await idle(t, {idle_retirement_ms: idleMs})
      assert.equal(tick(orchestrator).retired.length, count)
    })

  it('keeps min_agents and all reserved agents', async (t) => {
    const {orchestrator} = await idle(t, {min_agents: 1})
    spawnAgent(orchestrator, {name: 'mine'})
    orchestrator.clock.ms += 86_400_000
    tick(orchestrator)
    assert.deepEqual(agentsOf(orchestrator), ['core', 'mine'])
    assert.deepEqual(tick(orchestrator).retired, [])
  })

  it('keeps an agent with running or waiting tasks', async (t) => {
    const {orchestrator, spawned} = await idle(t)
    const [running = '', waiting = ''] = spawned
    const task = submit(orchestrator, {target_agent: running})
    startOne(orchestrator, listAgents(orchestrator).find(({name}) => name === running)?.id ?? 0)
    submit(orchestrator, {target_agent: waiting})
    orchestrator.clock.ms += 86_400_000
    assert.deepEqual(tick(orchestrator).retired, [])
    acceptTask(orchestrator, task, undefined, claimOf(orchestrator, task))
  })

  it('keeps an agent that has just finished a long external task', async (t) => {
    const {orchestrator, spawned} = await idle(t)
    const [name = ''] = spawned
    const id = submit(orchestrator, {target_agent: name, processor: 'external'})
    const {generation} = takeClaim(orchestrator, {owner: 'client', ttlMs: 900_000})
    orchestrator.clock.ms += 600_000
    acceptTask(orchestrator, id, undefined, {generation})
    orchestrator.clock.ms += 1000
    assert.ok(!tick(orchestrator).retired.includes(name))
  })

  it('retires the idle agent even if another one is named like its id', async (t) => {
    const orchestrator = await scaled(t)
    load(orchestrator)
    tick(orchestrator)
    work(orchestrator)
    const [, idle] = listAgents(orchestrator)
    spawnAgent(orchestrator, {name: String(idle?.id)})
    orchestrator.clock.ms += 300_001
    tick(orchestrator)
    assert.deepEqual(agentsOf(orchestrator), ['core', String(idle?.id)])
  })
})

describe('urgent tasks of one agent', () => {
  /** Two agents, one of them with a number of urgent tasks. */
  async function urgent(t: TestContext, count: number, settings: Readonly<Record<string, number>> = {}) {
    const orchestrator = await scaled(t, {min_agents: 2, scaling_enabled: false, ...settings})
    for (let i = 0; i < count; i++) submit(orchestrator, {priority: 'urgent', target_agent: 'core'})
    return orchestrator
  }
  const depths = (orchestrator: TestOrchestrator) => listAgents(orchestrator).map(({queued_urgent}) => queued_urgent)

  for (const [threshold, moved] of [
    [3, 2],
    [4, 1],
    [5, 0],
    [0, 0],
  ] as const)
    it(`are spread: ${moved} of 5 move if urgent_rebalance_threshold is ${threshold}`, async (t) => {
      const orchestrator = await urgent(t, 5, {urgent_rebalance_threshold: threshold})
      submit(orchestrator, {target_agent: 'core'})
      assert.equal(tick(orchestrator).moved, moved)
      assert.deepEqual(depths(orchestrator), [5 - moved, moved])
      const events = readEvents(orchestrator, {types: ['urgent_rebalance_triggered']})
      assert.deepEqual(
        events.map(({kind}) => kind),
        moved === 0 ? [] : [{type: 'urgent_rebalance_triggered', moved}],
      )
    })

  for (const [cooldown, moved] of [
    [5000, 0],
    [1000, 1],
  ] as const)
    it(`are spread again after 2 seconds if scaling_cooldown_ms is ${cooldown}: ${moved} moves`, async (t) => {
      const orchestrator = await urgent(t, 4, {scaling_cooldown_ms: cooldown})
      assert.equal(tick(orchestrator).moved, 1)
      submit(orchestrator, {priority: 'urgent', target_agent: 'core'})
      orchestrator.clock.ms += 2000
      assert.equal(tick(orchestrator).moved, moved)
    })
})

describe('an idle agent among busy ones', () => {
  for (const [enabled, shared] of [
    [true, true],
    [false, false],
  ] as const)
    it(`gets ${shared ? 'a share' : 'nothing'} if scaling_enabled is ${enabled}`, async (t) => {
      const orchestrator = await scaled(t, {min_agents: 3, max_agents: 3, scaling_enabled: enabled})
      for (let i = 0; i < 12; i++) submit(orchestrator, {target_agent: 'core'})
      for (let i = 0; i < 3; i++) tick(orchestrator)
      const queued = listAgents(orchestrator).map((agent) => agent.queued)
      assert.equal(
        queued.every((count) => count > 0),
        shared,
        `queued: ${queued.join(', ')}`,
      )
    })
})
