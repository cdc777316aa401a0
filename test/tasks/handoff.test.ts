import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setPaused, spawnAgent} from '../../src/orchestrator/index.js'
import {
  type Handoff,
  handoffTask,
  listAgents,
  listTasks,
  readEvents,
  requireAgent,
  requireTask,
  resolveDoubt,
  retireAgent,
  retryTask,
} from '../../src/tasks/index.js'
import type {TaskStatus} from '../../src/workspace/index.js'
import {
  contents,
  openTestOrchestrator,
  refused,
  type TestOrchestrator,
} from '../orchestrator/support/open-test-orchestrator.js'
import {
  acceptTask,
  claimOf,
  runAll,
  start,
  statusOf,
  submit,
  submitWriter,
  taskThatIs,
} from '../orchestrator/support/tasks.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const plan = {
  from_agent_id: 'core',
  to_agent_id: 'builder',
  plan_summary: 'Parser written; tests missing.',
  verification_criteria: ['npm test passes'],
}

async function open(
  t: Parameters<typeof openTestOrchestrator>[0],
  options: Parameters<typeof openTestOrchestrator>[1] = {},
) {
  const orchestrator = await openTestOrchestrator(t, options)
  for (const name of ['core', 'builder']) spawnAgent(orchestrator, {name})
  return orchestrator
}

const handOver = (orchestrator: TestOrchestrator, task_id: number, some: Partial<Handoff> = {}) =>
  handoffTask(orchestrator, {...plan, task_id, ...some})

const trustsIn = ({store}: TestOrchestrator) =>
  store
    .all<{entity_id: string; value: number}>(
      "SELECT entity_id, value FROM trust_observations WHERE dimension = 'handoff' ORDER BY id",
    )
    .map(({entity_id: name, value}) => [name, value])

/** Sets what a task owes, as its submission would. */
const owe = ({store}: TestOrchestrator, id: number, harness: object) =>
  store.run("UPDATE orch_tasks SET request = json_set(request, '$.harness', json(?)) WHERE id = ?", [
    JSON.stringify(harness),
    id,
  ])

const harnessOf = ({store}: TestOrchestrator, id: number): unknown =>
  JSON.parse(
    store.get<{harness: string}>("SELECT request -> 'harness' AS harness FROM orch_tasks WHERE id = ?", [id])
      ?.harness ?? 'null',
  )

describe('handing a task over', () => {
  it('moves a running task to the queue of the receiver and ends the claim', async (t) => {
    const orchestrator = await open(t)
    const id = submitWriter(orchestrator, ['a.ts'], {target_agent: 'core'})
    const {generation} = claimOf(orchestrator, start(orchestrator, id))
    const {accepted, reasons, task} = handOver(orchestrator, id, {
      generation,
      unresolved_objectives: ['error messages', ' '],
    })
    assert.deepEqual([accepted, reasons], [true, []])
    assert.deepEqual(
      [task.status, task.agent_name, task.generation, task.handoff_count],
      ['Queued', 'builder', generation + 1, 1],
    )
    assert.equal(
      task.description,
      `work

[HANDOFF] from core to builder
Parser written; tests missing.
Unresolved objectives:
- error messages
Verification criteria:
- npm test passes`,
    )
    refused('claim_lost', () => acceptTask(orchestrator, id, undefined, {generation}))
    const [core, builder] = listAgents(orchestrator)
    assert.deepEqual([core?.owned_files, builder?.owned_files, builder?.max_handoff_count], [0, 1, 1])
    const {kind} = readEvents(orchestrator, {types: ['task_handed_off']})[0] ?? assert.fail()
    assert.deepEqual(kind, {
      type: 'task_handed_off',
      task_id: id,
      agent_id: builder?.id,
      from_agent_id: core?.id,
      handoff_count: 1,
    })
    assert.deepEqual(runAll(orchestrator, requireAgent(orchestrator, 'builder').id), [id])
  })

  for (const status of ['Queued', 'InProgress', 'Blocked', 'BlockedOnApproval'] as const)
    it(`leaves a task that is ${status} ${status === 'InProgress' ? 'Queued' : status}`, async (t) => {
      const orchestrator = await open(t)
      const id = taskThatIs(orchestrator, status)
      const {generation, agent_name} = requireTask(orchestrator, id)
      const held = status === 'InProgress' ? {generation} : {}
      const to_agent_id = agent_name === 'core' ? 'builder' : 'core'
      const {task} = handOver(orchestrator, id, {...held, from_agent_id: agent_name, to_agent_id})
      assert.deepEqual([task.status, task.agent_name], [status === 'InProgress' ? 'Queued' : status, to_agent_id])
    })

  for (const status of ['Completed', 'Failed', 'Cancelled', 'Doubted'] as const satisfies readonly TaskStatus[])
    it(`is an error for a task that is ${status}`, async (t) => {
      const orchestrator = await open(t)
      const id = taskThatIs(orchestrator, status)
      const {params} = refused('handoff_invariant', () => handOver(orchestrator, id))
      assert.match(params.reason, new RegExp(status))
    })

  const stale: readonly [name: string, some: Partial<Handoff>][] = [
    ['another agent has the task', {from_agent_id: 'builder', to_agent_id: 'core', generation: 1}],
    ['the claim is an old one', {generation: 7}],
  ]
  for (const [name, some] of stale)
    it(`is stale if ${name}`, async (t) => {
      const orchestrator = await open(t)
      const id = start(orchestrator, submit(orchestrator, {target_agent: 'core'}))
      const before = contents(orchestrator)
      refused('stale_handoff', () => handOver(orchestrator, id, some))
      assert.deepEqual([contents(orchestrator), trustsIn(orchestrator)], [before, []])
    })

  it('is stale if the sender has retired, and needs the claim while somebody holds the task', async (t) => {
    const orchestrator = await open(t)
    const id = submit(orchestrator, {target_agent: 'gone'})
    retireAgent(orchestrator, 'gone')
    refused('stale_handoff', () => handOver(orchestrator, id, {from_agent_id: 'gone'}))
    refused('agent_not_found', () => handOver(orchestrator, id, {from_agent_id: 'nobody'}))
    const held = start(orchestrator, id)
    refused('claim_required', () => handOver(orchestrator, held))
    refused('handoff_invariant', () =>
      handOver(orchestrator, held, {...claimOf(orchestrator, held), to_agent_id: 'core'}),
    )
  })

  interface Refusal {
    some?: Partial<Handoff>
    arrange?: (orchestrator: TestOrchestrator) => unknown
    task?: Parameters<typeof submit>[1]
    reason: RegExp
  }
  const refusals: Readonly<Record<string, Refusal>> = {
    'the plan is blank': {some: {plan_summary: ' '}, reason: /^plan_summary is blank$/},
    'there are no criteria': {some: {verification_criteria: [' ']}, reason: /^verification_criteria is empty$/},
    'the receiver is paused': {
      arrange: (orchestrator) => setPaused(orchestrator, 'builder', true),
      reason: /^builder is paused$/,
    },
    'the receiver has retired': {
      arrange: (orchestrator) => retireAgent(orchestrator, 'builder'),
      reason: /^builder is retired$/,
    },
    'the receiver holds doubted tasks': {
      some: {to_agent_id: 'resolution'},
      arrange: (orchestrator) => taskThatIs(orchestrator, 'Doubted'),
      reason: /holds doubted tasks/,
    },
    'a file is outside the scope of the receiver': {
      task: {file_manifest: [{path: 'docs/a.md', access: 'write'}]},
      reason: /^docs\/a\.md is outside the scope of builder$/,
    },
    'the receiver lacks a capability': {
      task: {capability_requirements: {npu: true}},
      reason: /^builder does not have the required capability npu$/,
    },
  }
  for (const [name, {some = {}, arrange, task = {}, reason}] of Object.entries(refusals))
    it(`is not accepted if ${name}, which counts against the sender`, async (t) => {
      const root = await temporaryFolder(t)
      await writeFiles(root, {'.svc/agents/builder.md': '---\nscope: [src]\n---\n'})
      const orchestrator = await open(t, {root, toml: '[orchestrator]\nscope_enforcement = "strict"\n'})
      const id = submit(orchestrator, {target_agent: 'core', ...task})
      arrange?.(orchestrator)
      const before = contents(orchestrator)
      const {accepted, reasons, task: unchanged} = handOver(orchestrator, id, some)
      assert.deepEqual([accepted, reasons.length], [false, 1])
      assert.match(reasons[0] ?? '', reason)
      assert.deepEqual([unchanged.agent_name, contents(orchestrator)], ['core', before])
      assert.deepEqual(trustsIn(orchestrator), [['core', 0]])
    })

  it('counts for the sender in its trust, but not in its reliability', async (t) => {
    const orchestrator = await open(t)
    const id = submit(orchestrator, {target_agent: 'core'})
    handOver(orchestrator, id)
    handOver(orchestrator, id, {from_agent_id: 'builder', to_agent_id: 'core', plan_summary: ''})
    assert.deepEqual(trustsIn(orchestrator), [
      ['core', 1],
      ['builder', 0],
    ])
    const trust = orchestrator.store.all<{agent_name: string; score: number}>(
      'SELECT agent_name, score FROM agent_trust ORDER BY agent_name',
    )
    assert.deepEqual(
      trust.map(({agent_name: name, score}) => [name, score > 0.5]),
      [
        ['builder', false],
        ['core', true],
      ],
    )
    assert.deepEqual(orchestrator.store.all('SELECT * FROM reliability_scores'), [])
  })

  for (const status of ['Queued', 'InProgress', 'Blocked'] as const)
    it(`fails a task that is ${status} after five hand-overs, until it is retried`, async (t) => {
      const orchestrator = await open(t)
      const id = taskThatIs(orchestrator, status)
      const dependant = submit(orchestrator, {depends_on: [id]})
      orchestrator.store.run('UPDATE orch_tasks SET handoff_count = 4 WHERE id = ?', [id])
      const pass = () => {
        const {agent_name: from_agent_id, generation} = requireTask(orchestrator, id)
        const to_agent_id = from_agent_id === 'core' ? 'builder' : 'core'
        return handOver(orchestrator, id, {from_agent_id, to_agent_id, generation: generation || undefined})
      }
      assert.equal(pass().accepted, true)
      const {accepted, reasons, task} = pass()
      assert.deepEqual(
        [accepted, reasons],
        [false, ['T-0001 has already been handed over 5 times'.replace('0001', task.display_id.slice(2))]],
      )
      assert.deepEqual([task.status, task.status_reason], ['Failed', 'handoff_loop'])
      assert.equal(statusOf(orchestrator, dependant), 'Failed')
      assert.deepEqual(orchestrator.store.all('SELECT * FROM reliability_scores'), [])
      retryTask(orchestrator, id)
      assert.equal(pass().accepted, true)
    })

  it('keeps the description bounded', async (t) => {
    const orchestrator = await open(t)
    const long = 'x'.repeat(100_000)
    const {task} = handOver(orchestrator, submit(orchestrator, {target_agent: 'core'}), {
      plan_summary: long,
      unresolved_objectives: Array.from({length: 100}, () => long),
      verification_criteria: [long],
    })
    assert.ok(task.description.length < 30_000, String(task.description.length))
    assert.match(task.description, /Verification criteria:\n- x/)
  })

  it('stores the context envelope, which must be a JSON object', async (t) => {
    const orchestrator = await open(t)
    const id = submit(orchestrator, {target_agent: 'core'})
    refused('usage', () => handOver(orchestrator, id, {context_envelope_json: '[1]'}))
    refused('usage', () => handOver(orchestrator, id, {context_envelope_json: '{'}))
    handOver(orchestrator, id, {context_envelope_json: '{"note":1}'})
    handOver(orchestrator, id, {from_agent_id: 'builder', to_agent_id: 'core', context_envelope_json: '{"note":2}'})
    assert.deepEqual(
      orchestrator.store
        .all<{envelope: string}>('SELECT envelope FROM orch_task_evidence')
        .map(({envelope}) => envelope),
      ['{"note":2}'],
    )
  })
})

describe('the harness of a task that is handed over', () => {
  const templates = `[orchestrator.exec]
enabled = true
templates = {test = ["true"], lint = ["true"], build = ["true"]}
`
  const owed = {
    required_checks: [{check: 'test', covers: ['src/**']}, {check: 'lint'}],
    required_artifacts: ['report.md'],
    accept: ['It parses'],
  }
  const kept = ['test', 'lint'].map((check) => ({check}))

  const dropping: readonly [dropped: RegExp, given: object][] = [
    [/the check "lint"/, {...owed, required_checks: [owed.required_checks[0]]}],
    [/the check "lint"/, {...owed, required_checks: [{check: 'test'}, {check: 'lint', covers: ['src/**']}]}],
    [/the check "test"/, {...owed, required_checks: [{check: 'test', covers: ['docs/**']}, {check: 'lint'}]}],
    [/the artifact "report\.md"/, {...owed, required_artifacts: []}],
    [/the acceptance line "It parses"/, {required_checks: kept, required_artifacts: ['report.md']}],
  ]
  for (const [dropped, given] of dropping)
    it(`cannot lose ${dropped.source.replaceAll('\\', '')}: ${JSON.stringify(given)}`, async (t) => {
      const orchestrator = await open(t, {toml: templates})
      const id = submit(orchestrator, {target_agent: 'core'})
      owe(orchestrator, id, owed)
      const {params} = refused('handoff_invariant', () =>
        handOver(orchestrator, id, {harness_spec_json: JSON.stringify(given)}),
      )
      assert.match(params.reason, dropped)
      assert.deepEqual(harnessOf(orchestrator, id), owed)
    })

  it('can gain items, and stays as it is if none is given', async (t) => {
    const orchestrator = await open(t, {toml: templates})
    const id = submit(orchestrator, {target_agent: 'core'})
    owe(orchestrator, id, owed)
    handOver(orchestrator, id)
    assert.deepEqual(harnessOf(orchestrator, id), owed)
    const more = {...owed, required_checks: [...kept, {check: 'build'}], accept: ['It parses', 'It prints']}
    const back = {from_agent_id: 'builder', to_agent_id: 'core'}
    handOver(orchestrator, id, {...back, harness_spec_json: JSON.stringify(more)})
    assert.deepEqual(harnessOf(orchestrator, id), more)
  })

  for (const json of ['{', '[]', '{"accept":"x"}', '{"accept":[1]}', '{"required_checks":[{}]}'])
    it(`cannot be ${json}`, async (t) => {
      const orchestrator = await open(t, {toml: templates})
      const id = submit(orchestrator, {target_agent: 'core'})
      refused('usage', () => handOver(orchestrator, id, {harness_spec_json: json}))
    })
})

describe('an idempotency key', () => {
  const once = {description: 'work', idempotency_key: 'k', target_agent: 'core'}

  it('still finds a task that was handed over', async (t) => {
    const orchestrator = await open(t)
    const id = submit(orchestrator, once)
    handOver(orchestrator, id, {harness_spec_json: '{"accept":["It parses"]}'})
    assert.equal(submit(orchestrator, once), id)
    assert.equal(listTasks(orchestrator).length, 1)
    refused('idempotency_mismatch', () => submit(orchestrator, {...once, description: 'wor'}))
  })

  it('still finds a task with a resolved doubt', async (t) => {
    const orchestrator = await open(t)
    const doubted = taskThatIs(orchestrator, 'Doubted')
    orchestrator.store.run("UPDATE orch_tasks SET idempotency_key = 'k' WHERE id = ?", [doubted])
    resolveDoubt(orchestrator, doubted, {validated: false, report: 'Use the parser.'})
    assert.equal(submit(orchestrator, {idempotency_key: 'k'}), doubted)
  })
})
