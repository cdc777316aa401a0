import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {cancelTask, doubtTask, overruleDoubt, requireTask, retireAgent} from '../../src/tasks/index.js'
import {openTestOrchestrator, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {complete, fail, submit} from '../orchestrator/support/tasks.js'

const reliabilities = ({store}: TestOrchestrator) =>
  store
    .all<{type: string; id: string; reliability: number; good: number; bad: number}>(
      `SELECT entity_type AS type, entity_id AS id, reliability, success_count AS good, failure_count AS bad
FROM reliability_scores ORDER BY type, id`,
    )
    .map((row) => ({...row, id: row.id.replace('\0', ' ')}))

const trustOf = ({store}: TestOrchestrator, name: string) =>
  store.get<{score: number; variance: number; completion: number; tier: string; outcomes: number}>(
    'SELECT score, variance, completion, tier, outcomes FROM agent_trust WHERE agent_name = ?',
    [name],
  )

describe('the track record of an agent', () => {
  it('contains its reliability and that of its skills', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const enqueue_hints = {active_skill: 'sql'}
    complete(orchestrator, submit(orchestrator, {enqueue_hints}))
    complete(orchestrator, submit(orchestrator))
    fail(orchestrator, submit(orchestrator))
    assert.deepEqual(reliabilities(orchestrator), [
      {type: 'agent', id: 'core', reliability: 3 / 5, good: 2, bad: 1},
      {type: 'agent_skill', id: 'core sql', reliability: 2 / 3, good: 1, bad: 0},
    ])
  })

  it('contains its trust, which weights recent outcomes most', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    complete(orchestrator, submit(orchestrator))
    const first = trustOf(orchestrator, 'core')
    assert.deepEqual([first?.score.toFixed(4), first?.variance.toFixed(4)], ['0.8592', '0.0718'])
    fail(orchestrator, submit(orchestrator))
    complete(orchestrator, submit(orchestrator))
    assert.equal(trustOf(orchestrator, 'core')?.completion.toFixed(2), '0.91')
    for (let i = 0; i < 2; i++) complete(orchestrator, submit(orchestrator))
    assert.deepEqual([trustOf(orchestrator, 'core')?.outcomes, trustOf(orchestrator, 'core')?.tier], [5, 'provisional'])
  })

  it('is stored by its name and outlives it', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'other'})
    complete(orchestrator, submit(orchestrator, {target_agent: 'worker'}))
    retireAgent(orchestrator, 'worker')
    complete(orchestrator, submit(orchestrator, {target_agent: 'worker'}))
    assert.deepEqual(reliabilities(orchestrator), [{type: 'agent', id: 'worker', reliability: 3 / 4, good: 2, bad: 0}])
  })

  it('is not affected by cancelled tasks and failed dependencies', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    cancelTask(orchestrator, submit(orchestrator))
    const parent = submit(orchestrator, {target_agent: 'one'})
    submit(orchestrator, {target_agent: 'two', depends_on: [parent]})
    fail(orchestrator, parent)
    assert.deepEqual(reliabilities(orchestrator), [{type: 'agent', id: 'one', reliability: 1 / 3, good: 0, bad: 1}])
  })

  it('counts an overruled doubt for the agent of the task', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {target_agent: 'worker'})
    doubtTask(orchestrator, id)
    overruleDoubt(orchestrator, id)
    assert.deepEqual(reliabilities(orchestrator), [{type: 'agent', id: 'worker', reliability: 2 / 3, good: 1, bad: 0}])
  })

  for (const [enabled, agent] of [
    [false, 'bad'],
    [true, 'good'],
  ] as const)
    it(`sends the next task to ${agent} if socrates_reputation_routing is ${enabled}`, async (t) => {
      const toml = `[orchestrator]\nsocrates_reputation_routing = ${enabled}\nmin_agents = 0\n`
      const orchestrator = await openTestOrchestrator(t, {toml})
      for (const name of ['bad', 'good']) spawnAgent(orchestrator, {name})
      for (let i = 0; i < 3; i++) {
        fail(orchestrator, submit(orchestrator, {target_agent: 'bad'}))
        complete(orchestrator, submit(orchestrator, {target_agent: 'good'}))
      }
      assert.equal(requireTask(orchestrator, submit(orchestrator)).agent_name, agent)
    })
})
