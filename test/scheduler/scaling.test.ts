import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  decideScaling,
  remoteRelief,
  retirementMs,
  type ScalingAgent,
  type ScalingPolicy,
  type ScalingState,
} from '../../src/scheduler/scaling/decide.js'
import {
  agentLoad,
  predictLoad,
  pushHistory,
  readResources,
  resourceUsage,
  taskWeight,
  totalLoad,
} from '../../src/scheduler/scaling/load.js'
import {remoteHint} from '../../src/tasks/routing/remote.js'

const near = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`)

const resources = {resourceWeight: 0.3, resourceCpuMultiplier: 0.7, resourceMemMultiplier: 0.3, resourceExponent: 1}

const now = 10_000_000
const busy = (id: number, some: Partial<ScalingAgent> = {}): ScalingAgent => ({
  id,
  isDynamic: false,
  queued: 1,
  running: 1,
  lastActiveMs: now,
  ...some,
})
const idle = (id: number, forMs: number, some: Partial<ScalingAgent> = {}): ScalingAgent =>
  busy(id, {isDynamic: true, queued: 0, running: 0, lastActiveMs: now - forMs, ...some})

const policy: ScalingPolicy = {
  scalingEnabled: true,
  scalingProfile: 'balanced',
  scalingThreshold: 5,
  minAgents: 1,
  maxAgents: 8,
  maxSpawnPerTick: 5,
  scalingCooldownMs: 5000,
  idleRetirementMs: 300_000,
}
const state = (some: Partial<ScalingState> = {}): ScalingState => ({
  agents: [busy(1)],
  totalLoad: 0,
  predictedLoad: 0,
  totalQueued: 0,
  remote: [],
  costCritical: false,
  nowMs: now,
  ...some,
})
const gpuNode = (some: object = {}) =>
  remoteHint({id: 'g', last_seen_unix_ms: now, capabilities: {gpu_cuda: true}, ...some}, 60_000, now)

describe('load', () => {
  it('weighs a task by its priority and its complexity', () => {
    assert.equal(taskWeight('urgent', 5), 3)
    assert.equal(taskWeight('normal', 10), 2)
    near(taskWeight('background', 1), 0.08)
  })

  it('of an agent includes its running and waiting tasks', () => {
    near(
      agentLoad([
        {priority: 'urgent', complexity: 5},
        {priority: 'normal', complexity: 10},
        {priority: 'background', complexity: 5},
      ]),
      5.4,
    )
    assert.equal(agentLoad([]), 0)
  })

  it('is increased on a busy machine', () => {
    near(totalLoad(10, {cpu: 0.5, memory: 0.4}, resources), 11.41)
    near(totalLoad(10, {cpu: 0.5, memory: 0.4}, {...resources, resourceExponent: 2}), 10 * (1 + 0.3 * 0.47 ** 2))
    near(totalLoad(10, {cpu: 0.5, memory: 0.4}, {...resources, resourceWeight: 1}), 14.7)
    assert.equal(totalLoad(10, {cpu: 1, memory: 1}, {...resources, resourceWeight: 0}), 10)
  })

  const predictions: [history: number[], current: number, expected: number][] = [
    [[2, 4, 9], 1, 13],
    [[9, 1, 0], 1, 0],
    [[2, 4], 1, 5],
    [[], 7, 7],
    [[3], 7, 3],
  ]
  for (const [history, current, expected] of predictions)
    it(`is predicted to be ${expected} after ${JSON.stringify(history)} and ${current}`, () => {
      assert.equal(predictLoad(history, current), expected)
    })

  it('is kept for a number of ticks', () => {
    assert.deepEqual(pushHistory([1, 2, 3], 4, 3), [2, 3, 4])
    assert.deepEqual(pushHistory([], 4, 3), [4])
    assert.deepEqual(pushHistory([1, 2], 3, 0), [3])
  })
})

describe('resource usage', () => {
  const sample = {cpuIdleMs: 1000, cpuTotalMs: 2000, memoryFree: 25, memoryTotal: 100}
  it('is the CPU usage between two samples and the current memory usage', () => {
    const later = {cpuIdleMs: 1250, cpuTotalMs: 3000, memoryFree: 40, memoryTotal: 100}
    assert.deepEqual(resourceUsage(sample, later), {cpu: 0.75, memory: 0.6})
  })

  it('has no CPU usage if no time has passed', () => {
    assert.deepEqual(resourceUsage(sample, sample), {cpu: 0, memory: 0.75})
  })

  it('stays between 0 and 1 if a counter jumps', () => {
    assert.equal(resourceUsage(sample, {...sample, cpuIdleMs: 5000, cpuTotalMs: 3000}).cpu, 0)
    assert.equal(resourceUsage(sample, {...sample, cpuIdleMs: 0, cpuTotalMs: 2500}).cpu, 1)
  })

  it('increases with work', () => {
    const before = readResources()
    for (const until = performance.now() + 200; performance.now() < until; ) Math.sqrt(until)
    const {cpu, memory} = resourceUsage(before, readResources())
    assert.ok(cpu > 0 && cpu <= 1, `${cpu}`)
    assert.ok(memory > 0 && memory < 1, `${memory}`)
  })
})

describe('scaling up', () => {
  const two = [busy(1), busy(2)]
  const rows: [what: string, state: Partial<ScalingState>, policy: Partial<ScalingPolicy>, count: number][] = [
    ['ten waiting tasks for one agent', {totalLoad: 10, predictedLoad: 10, totalQueued: 10}, {}, 2],
    ['a conservative profile', {agents: two, totalLoad: 14, totalQueued: 4}, {scalingProfile: 'conservative'}, 0],
    ['a conservative profile at its threshold', {agents: two, totalLoad: 15}, {scalingProfile: 'conservative'}, 1],
    ['a balanced profile', {agents: two, totalLoad: 14, totalQueued: 4}, {}, 1],
    ['an aggressive profile', {agents: two, totalLoad: 14, totalQueued: 4}, {scalingProfile: 'aggressive'}, 2],
    ['a load just at the threshold', {totalLoad: 5}, {}, 1],
    ['a load just below the threshold', {totalLoad: 4.999}, {}, 0],
    ['a predicted load', {totalLoad: 1, predictedLoad: 12}, {}, 2],
    ['a queue as long as the threshold', {totalLoad: 4.6, totalQueued: 5}, {}, 0],
    ['a queue longer than the threshold', {totalLoad: 4.6, totalQueued: 6}, {}, 1],
    ['a longer queue and too little load', {totalLoad: 4.49, totalQueued: 6}, {}, 0],
    ['no agents', {agents: [], totalLoad: 6}, {}, 2],
    ['more than the limit per tick', {totalLoad: 100}, {maxSpawnPerTick: 3}, 3],
    ['more than the maximum number of agents', {agents: two, totalLoad: 100}, {maxAgents: 4}, 2],
    ['the maximum number of agents', {agents: two, totalLoad: 100}, {maxAgents: 2}, 0],
    ['an agent near its budget', {totalLoad: 100, costCritical: true}, {}, 0],
    ['disabled scaling', {totalLoad: 100}, {scalingEnabled: false}, 0],
    ['a scale-up within the cooldown', {totalLoad: 100, lastScaleUpMs: now - 4999}, {}, 0],
    ['a scale-up past the cooldown', {totalLoad: 100, lastScaleUpMs: now - 5000}, {}, 5],
    ['nodes that relieve enough', {totalLoad: 5, remote: [gpuNode()]}, {}, 0],
    ['nodes that do not relieve enough', {totalLoad: 7.25, remote: [gpuNode(), gpuNode(), gpuNode()]}, {}, 1],
    ['a load with a rounding error', {agents: two, totalLoad: 5 * 0.7 * 3 + 1e-15}, {scalingProfile: 'aggressive'}, 1],
  ]
  for (const [what, some, by, count] of rows)
    it(`starts ${count} for ${what}`, () => {
      const decision = decideScaling(state(some), {...policy, ...by})
      assert.deepEqual(decision, count === 0 ? {kind: 'none'} : {kind: 'up', count})
    })

  it('retires no agents during the cooldown', () => {
    const agents = [busy(1), idle(2, 900_000)]
    const waits = state({agents, totalLoad: 100, lastScaleUpMs: now - 1})
    assert.deepEqual(decideScaling(waits, policy), {kind: 'none'})
  })
})

describe('nodes with a GPU', () => {
  it('each relieve a share of the load', () => {
    near(remoteRelief([gpuNode(), gpuNode(), gpuNode()]), 1 / 1.45)
    assert.equal(remoteRelief([]), 1)
  })

  it('only count if they can receive work', () => {
    const others = [
      gpuNode({quarantined: true}),
      gpuNode({maintenance: true}),
      gpuNode({last_seen_unix_ms: now - 60_001}),
      gpuNode({gpu_allocatable_count: 0}),
      gpuNode({capabilities: {}}),
    ]
    assert.equal(remoteRelief(others), 1)
  })
})

describe('scaling down', () => {
  const patience: [profile: ScalingPolicy['scalingProfile'], costCritical: boolean, ms: number][] = [
    ['conservative', false, 180_000],
    ['balanced', false, 300_000],
    ['aggressive', false, 450_000],
    ['conservative', true, 90_000],
  ]
  for (const [scalingProfile, costCritical, ms] of patience)
    it(`waits ${ms} ms with a ${scalingProfile} profile${costCritical ? ' and high costs' : ''}`, () => {
      const by = {...policy, scalingProfile}
      near(retirementMs(by, costCritical), ms)
      const after = (forMs: number) => decideScaling(state({agents: [busy(1), idle(2, forMs)], costCritical}), by)
      assert.deepEqual(after(ms), {kind: 'none'})
      assert.deepEqual(after(ms + 1), {kind: 'down', agents: [2]})
    })

  it('retires only idle dynamic agents, longest idle first', () => {
    const agents = [
      idle(1, 900_000, {isDynamic: false}),
      idle(2, 400_000),
      idle(3, 500_000),
      idle(4, 900_000, {queued: 1}),
      idle(5, 900_000, {running: 1}),
      idle(6, 200_000),
    ]
    assert.deepEqual(decideScaling(state({agents}), policy), {kind: 'down', agents: [3, 2]})
  })

  it('keeps the minimum number of agents', () => {
    const agents = [idle(1, 400_000), idle(2, 600_000), idle(3, 500_000)]
    assert.deepEqual(decideScaling(state({agents}), {...policy, minAgents: 2}), {kind: 'down', agents: [2]})
    assert.deepEqual(decideScaling(state({agents}), {...policy, minAgents: 3}), {kind: 'none'})
    assert.deepEqual(decideScaling(state({agents}), {...policy, minAgents: 5}), {kind: 'none'})
  })

  it('does not happen if scaling is disabled', () => {
    const off = {...policy, scalingEnabled: false}
    assert.deepEqual(decideScaling(state({agents: [busy(1), idle(2, 900_000)]}), off), {kind: 'none'})
  })
})
