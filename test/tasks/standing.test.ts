import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {fragment, openStore} from '../../src/store/index.js'
import {completionTrustOf, pruneObservations, reliabilityOfAgent} from '../../src/tasks/agents/trust.js'
import {orchestratorFragment} from '../../src/tasks/base/schema.js'
import {cancelTask, doubtTask, overruleDoubt, requireTask, retireAgent} from '../../src/tasks/index.js'
import {openTestOrchestrator, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, claimOf, complete, fail, start, submit} from '../orchestrator/support/tasks.js'
import {temporaryFolder} from '../support/temporary.js'

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

  it('contains a moving average of its completed tasks, for each phase and overall', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const trust = (phase?: string) => {
      const found = completionTrustOf(orchestrator, 'core', phase)
      return found && [found.score.toFixed(2), found.outcomes]
    }
    assert.deepEqual([trust(), reliabilityOfAgent(orchestrator, 'core')], [undefined, undefined])
    complete(orchestrator, submit(orchestrator))
    fail(orchestrator, submit(orchestrator, {description: 'mend [PHASE:REPAIR]'}))
    complete(orchestrator, submit(orchestrator))
    assert.deepEqual(trust(), ['0.91', 3])
    assert.deepEqual([trust('single_shot'), trust('REPAIR'), trust('reduce')], [['1.00', 2], ['0.00', 1], trust()])
    assert.equal(reliabilityOfAgent(orchestrator, 'core'), 3 / 5)
  })

  it('contains every outcome with its phase, category and model', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {description: 'write it [[category:codegen]]'})
    acceptTask(orchestrator, start(orchestrator, id), {text: 'done', model: 'm'}, claimOf(orchestrator, id))
    fail(orchestrator, submit(orchestrator))
    const {store} = orchestrator
    const columns = 'entity_id, dimension, domain, class, provider, model'
    assert.deepEqual(
      store.all(`SELECT ${columns}, value, task_id FROM trust_observations`).map((row) => Object.values(row as object)),
      [
        ['core', 'task_completion', 'single_shot', 'codegen', 'local', 'm', 1, 1],
        ['core', 'task_completion', 'single_shot', 'general', '', '', 0, 2],
      ],
    )
    assert.deepEqual(
      store
        .all(`SELECT domain, class, provider, model, score, observations FROM trust_rollups ORDER BY domain, class`)
        .map((row) => Object.values(row as object)),
      [
        ['', '', '', '', 0.9, 2],
        ['single_shot', '', '', '', 0.9, 2],
        ['single_shot', 'codegen', 'local', 'm', 1, 1],
        ['single_shot', 'general', '', '', 0, 1],
      ],
    )
  })

  it('keeps the moving averages of an older store', async (t) => {
    const {migrations} = orchestratorFragment
    const path = join(await temporaryFolder(t), 'store.db')
    const place = migrations.findIndex((sql) => sql.includes('INSERT INTO trust_rollups'))
    const older = await openStore(path, [fragment('orchestrator', ...migrations.slice(0, place))])
    older.run("INSERT INTO agent_trust VALUES ('r', 'core', 0.6, 0.1, 0.75, 'provisional', 9, 0, 1000)")
    older.run("INSERT INTO agent_trust VALUES ('r', 'new', 0.5, 0.25, NULL, 'untrusted', 0, 0, 1000)")
    older.close()
    const store = await openStore(path, [orchestratorFragment])
    t.after(() => store.close())
    assert.deepEqual(store.all('SELECT entity_id, dimension, domain, score, observations FROM trust_rollups'), [
      {entity_id: 'core', dimension: 'task_completion', domain: '', score: 0.75, observations: 9},
    ])
  })

  it('loses observations that are older than the retention, but not their averages', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (let i = 0; i < 3; i++) complete(orchestrator, submit(orchestrator))
    orchestrator.clock.ms += 2 * 86_400_000
    complete(orchestrator, submit(orchestrator))
    assert.deepEqual([pruneObservations(orchestrator, 3), pruneObservations(orchestrator, 1)], [0, 3])
    assert.equal(completionTrustOf(orchestrator, 'core')?.outcomes, 4)
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

  it('sends a task to the agent that completes tasks of its phase', async (t) => {
    const toml = '[orchestrator]\nsocrates_reputation_routing = true\nsocrates_reputation_weight = 0\nmin_agents = 0\n'
    const orchestrator = await openTestOrchestrator(t, {toml})
    for (const name of ['drafter', 'mender']) spawnAgent(orchestrator, {name})
    const repair = 'mend [PHASE:REPAIR]'
    complete(orchestrator, submit(orchestrator, {target_agent: 'drafter'}))
    fail(orchestrator, submit(orchestrator, {target_agent: 'drafter', description: repair}))
    fail(orchestrator, submit(orchestrator, {target_agent: 'mender'}))
    complete(orchestrator, submit(orchestrator, {target_agent: 'mender', description: repair}))
    const agentFor = (description: string) => requireTask(orchestrator, submit(orchestrator, {description})).agent_name
    assert.deepEqual(
      [agentFor(repair), agentFor('write'), agentFor('reduce [PHASE:REDUCE]')],
      ['mender', 'drafter', 'drafter'],
    )
  })

  it('sends no validation to an agent whose validations failed, until one completes', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmin_agents = 0\n'})
    for (const name of ['first', 'second']) spawnAgent(orchestrator, {name})
    const validate = {description: 'check shard [PHASE:SHARD_VALIDATE]'}
    const next = () => {
      const id = submit(orchestrator, validate)
      const {agent_name: name} = requireTask(orchestrator, id)
      cancelTask(orchestrator, id)
      return name
    }
    assert.equal(next(), 'first')
    fail(orchestrator, submit(orchestrator, {...validate, target_agent: 'first'}))
    assert.equal(next(), 'second')
    complete(orchestrator, submit(orchestrator, {...validate, target_agent: 'first'}))
    assert.equal(next(), 'first')
  })

  it('sends no reducing task to an agent that failed one, until the cooldown ends', async (t) => {
    const toml = '[orchestrator]\nmin_agents = 0\nrepo_reduce_conflict_cooldown_ms = 60000\n'
    const orchestrator = await openTestOrchestrator(t, {toml})
    for (const name of ['first', 'second']) spawnAgent(orchestrator, {name})
    const reduce = {description: 'merge shards [PHASE:REDUCE]'}
    fail(orchestrator, submit(orchestrator, {...reduce, target_agent: 'first'}))
    const next = () => {
      const id = submit(orchestrator, reduce)
      const {agent_name: name} = requireTask(orchestrator, id)
      cancelTask(orchestrator, id)
      return name
    }
    assert.equal(next(), 'second')
    orchestrator.clock.ms += 60_000
    assert.equal(next(), 'first')
  })
})
