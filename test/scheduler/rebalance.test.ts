import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {taskWeight} from '../../src/scheduler/scaling/load.js'
import {planRebalance, type RebalanceAgent, urgentRebalanceDue} from '../../src/scheduler/scaling/rebalance.js'
import type {QueuedTask} from '../../src/tasks/index.js'
import {type Priority, priorities} from '../../src/workspace/vocabulary.js'
import {seeded} from '../support/random.js'

const performance = {costPreference: 'performance'} as const
const economy = {costPreference: 'economy'} as const

/** The tasks of one agent, with ascending ids and ages from the first one. */
const queue = (agentId: number, from: number, order: Priority[], some: Partial<QueuedTask> = {}): QueuedTask[] =>
  order.map((priority, i) => ({
    id: from + i,
    agentId,
    priority,
    complexity: 5,
    createdAtMs: 1000 + i,
    movable: true,
    needs: undefined,
    ...some,
  }))

/** Agents with the loads of their waiting and running tasks. */
const agents = (count: number, tasks: readonly QueuedTask[], running: Record<number, number> = {}): RebalanceAgent[] =>
  Array.from({length: count}, (_, i) => ({
    id: i + 1,
    load: tasks
      .filter(({agentId}) => agentId === i + 1)
      .reduce((sum, {priority, complexity}) => sum + taskWeight(priority, complexity), running[i + 1] ?? 0),
    paused: false,
  }))

const times = (count: number, priority: Priority) => Array.from({length: count}, () => priority)

describe('a rebalance', () => {
  it('moves the task that would run last: lowest priority, latest', () => {
    const tasks = queue(1, 10, ['background', 'urgent', 'background', 'normal', 'normal'])
    assert.deepEqual(planRebalance(agents(2, tasks), tasks, performance), [{taskId: 12, from: 1, to: 2}])
  })

  it('moves the later of two tasks with the same time', () => {
    const tasks = queue(1, 10, times(5, 'normal'), {createdAtMs: 7})
    assert.deepEqual(planRebalance(agents(2, tasks), tasks, performance), [{taskId: 14, from: 1, to: 2}])
  })

  it('relieves the busiest agent first', () => {
    const tasks = [...queue(1, 10, times(8, 'normal')), ...queue(3, 30, times(9, 'normal'))]
    assert.deepEqual(planRebalance(agents(4, tasks, {4: 3}), tasks, performance), [
      {taskId: 38, from: 3, to: 2},
      {taskId: 37, from: 3, to: 4},
      {taskId: 17, from: 1, to: 2},
    ])
  })

  it('moves one task to each agent below the average, least busy first', () => {
    const tasks = queue(1, 10, times(12, 'normal'))
    const moves = planRebalance(agents(3, tasks, {2: 1}), tasks, performance)
    assert.deepEqual(moves, [
      {taskId: 21, from: 1, to: 3},
      {taskId: 20, from: 1, to: 2},
    ])
  })

  it('prefers the cheapest agent with economy', () => {
    const tasks = queue(1, 10, times(12, 'normal'))
    const all = agents(4, tasks, {4: 2})
    const priced = all.map((agent) => (agent.id === 4 ? {...agent, pricePer1k: 0.001} : agent))
    const dear = priced.map((agent) => (agent.id === 2 ? {...agent, pricePer1k: 0.0031} : agent))
    assert.deepEqual(
      planRebalance(dear, tasks, economy).map(({to}) => to),
      [4, 3, 2],
    )
    assert.deepEqual(
      planRebalance(dear, tasks, performance).map(({to}) => to),
      [2, 3, 4],
    )
  })

  it('moves nothing from an agent slightly above the average', () => {
    const four = queue(1, 10, times(4, 'normal'))
    assert.deepEqual(planRebalance(agents(2, four), four, performance), [])
    const five = queue(1, 10, times(5, 'normal'))
    assert.equal(planRebalance(agents(2, five), five, performance).length, 1)
  })

  it('does not move tasks whose files another agent has locked', () => {
    const tasks = [
      ...queue(1, 10, ['background'], {movable: false}),
      ...queue(1, 20, times(4, 'normal')),
      ...queue(1, 30, times(2, 'normal'), {movable: false, createdAtMs: 9999}),
    ]
    assert.deepEqual(planRebalance(agents(2, tasks), tasks, performance), [{taskId: 23, from: 1, to: 2}])
  })

  it('does not move a task that would only shift the overload', () => {
    const tasks = queue(1, 10, ['urgent'], {complexity: 10})
    assert.deepEqual(planRebalance(agents(2, tasks), tasks, performance), [])
  })

  it('moves nothing to a paused agent, but moves its tasks away', () => {
    const tasks = queue(1, 10, times(9, 'normal'))
    const [one, two, three] = agents(3, tasks) as [RebalanceAgent, RebalanceAgent, RebalanceAgent]
    const moves = planRebalance([{...one, paused: true}, {...two, paused: true}, three], tasks, performance)
    assert.deepEqual(
      moves.map(({to}) => to),
      [3],
    )
  })

  it('moves a task only to an agent that meets its requirements', () => {
    const tasks = queue(1, 10, times(9, 'normal'))
    const fits = (taskId: number, agentId: number) => agentId === 3 && taskId < 15
    assert.deepEqual(planRebalance(agents(3, tasks), tasks, {...performance, fits}), [{taskId: 14, from: 1, to: 3}])
  })

  it('moves nothing without agents, with one agent or with idle ones', () => {
    const tasks = queue(1, 10, times(9, 'normal'))
    assert.deepEqual(planRebalance([], [], performance), [])
    assert.deepEqual(planRebalance(agents(1, tasks), tasks, performance), [])
    assert.deepEqual(planRebalance(agents(3, []), [], performance), [])
  })

  it('reduces load differences, moves no task twice, and terminates', () => {
    const {next: random, below} = seeded(3)
    for (let round = 0; round < 200; round++) {
      let tasks = Array.from({length: below(60)}, (_, i) =>
        queue(1 + below(2), i, [priorities[below(3)] as Priority], {
          complexity: 1 + below(10),
          movable: random() < 0.9,
        }),
      ).flat()
      const spread = () => {
        const loads = agents(5, tasks).map(({load}) => load)
        return loads.reduce((sum, load) => sum + load ** 2, 0)
      }
      let runs = 0
      for (; ; runs++) {
        const moves = planRebalance(agents(5, tasks), tasks, performance)
        assert.equal(new Set(moves.map(({taskId}) => taskId)).size, moves.length)
        if (moves.length === 0) break
        const before = spread()
        const to = new Map(moves.map((move) => [move.taskId, move.to]))
        tasks = tasks.map((task) => ({...task, agentId: to.get(task.id) ?? task.agentId}))
        assert.ok(spread() < before)
        assert.ok(runs < 100)
      }
    }
  })
})

describe('an urgent rebalance', () => {
  const urgent = (threshold: number) => ({...performance, urgentThreshold: threshold})

  it('moves only urgent tasks, latest first, until the threshold is met', () => {
    const tasks = queue(1, 10, [...times(5, 'urgent'), ...times(4, 'background')])
    assert.deepEqual(planRebalance(agents(2, tasks), tasks, urgent(3)), [
      {taskId: 14, from: 1, to: 2},
      {taskId: 13, from: 1, to: 2},
    ])
  })

  it('relieves the agent with the most urgent tasks first', () => {
    const tasks = [...queue(1, 10, times(4, 'urgent')), ...queue(3, 30, times(6, 'urgent'))]
    assert.deepEqual(planRebalance(agents(3, tasks), tasks, urgent(3)), [
      {taskId: 35, from: 3, to: 2},
      {taskId: 34, from: 3, to: 2},
      {taskId: 33, from: 3, to: 2},
    ])
  })

  it('does not fill another agent beyond the threshold', () => {
    const tasks = [...queue(1, 10, times(9, 'urgent')), ...queue(2, 30, times(2, 'urgent'))]
    const moves = planRebalance(agents(3, tasks), tasks, urgent(3))
    assert.deepEqual(
      moves.map(({to}) => to),
      [3, 3, 2, 3],
    )
  })

  it('moves to an agent with less urgent work if there is no other', () => {
    const tasks = [...queue(1, 10, times(4, 'urgent')), ...queue(2, 30, times(40, 'background'))]
    assert.deepEqual(planRebalance(agents(2, tasks), tasks, urgent(3)), [{taskId: 13, from: 1, to: 2}])
  })

  it('does not move tasks with foreign locks, but counts them', () => {
    const tasks = [...queue(1, 10, times(3, 'urgent'), {movable: false}), ...queue(1, 20, ['urgent', 'urgent'])]
    assert.deepEqual(
      planRebalance(agents(2, tasks), tasks, urgent(3)).map(({taskId}) => taskId),
      [21, 20],
    )
  })

  it('moves nothing to paused agents', () => {
    const tasks = queue(1, 10, times(5, 'urgent'))
    const all = agents(2, tasks).map((agent) => ({...agent, paused: agent.id === 2}))
    assert.deepEqual(planRebalance(all, tasks, urgent(3)), [])
  })

  it('prefers the cheapest agent with economy', () => {
    const tasks = queue(1, 10, times(4, 'urgent'))
    const all = agents(3, tasks, {3: 9}).map((agent) => (agent.id === 3 ? {...agent, pricePer1k: 0} : agent))
    assert.deepEqual(
      planRebalance(all, tasks, {...economy, urgentThreshold: 3}).map(({to}) => to),
      [3],
    )
  })

  const policy = {urgentRebalanceThreshold: 3, scalingCooldownMs: 5000}
  const rows: [what: string, depths: number[], threshold: number, last: number | undefined, due: boolean][] = [
    ['an agent has more than the threshold', [4, 0], 3, undefined, true],
    ['an agent has more than a threshold of one', [2, 0], 1, undefined, true],
    ['an agent is at the threshold', [3, 3], 3, undefined, false],
    ['there is one agent', [9], 3, undefined, false],
    ['it is disabled', [9, 9], 0, undefined, false],
    ['the last one is within the cooldown', [9, 0], 3, 95_001, false],
    ['the last one is past the cooldown', [9, 0], 3, 95_000, true],
  ]
  for (const [what, depths, urgentRebalanceThreshold, last, due] of rows)
    it(`is${due ? '' : ' not'} due if ${what}`, () => {
      assert.equal(urgentRebalanceDue(depths, {...policy, urgentRebalanceThreshold}, 100_000, last), due)
    })
})
