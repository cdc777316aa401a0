import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {SubmitTaskV1} from '../../src/contracts/index.js'
import {reportStatus, spawnAgent} from '../../src/orchestrator/index.js'
import {
  cancelTask,
  listAgents,
  listTasks,
  readEvents,
  requireTask,
  submitTask,
  type Task,
  takeClaim,
} from '../../src/tasks/index.js'
import {
  contents,
  openTestOrchestrator,
  refused,
  startMs,
  type TestOrchestrator,
} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, claimOf, complete, statusOf, submit, submitWriter} from '../orchestrator/support/tasks.js'

/** A task as it is stored. */
const stored = (orchestrator: TestOrchestrator, submission: Partial<SubmitTaskV1>): Task =>
  requireTask(orchestrator, submit(orchestrator, submission))

describe('a submitted task', () => {
  it('returns its placement and is stored with all defaults', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const {uid, trace_id, ...answer} = submitTask(orchestrator, {description: 'Add a retry'})
    assert.deepEqual(answer, {
      task_id: 1,
      display_id: 'T-0001',
      agent_id: 1,
      agent_name: 'core',
      status: 'Queued',
      placement_reason: 'local_queue_default',
    })
    assert.match(uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    assert.match(trace_id, /^[0-9a-f]{32}$/)
    assert.deepEqual(requireTask(orchestrator, 1), {
      id: 1,
      display_id: 'T-0001',
      uid,
      trace_id,
      repository_id: orchestrator.repositoryId,
      status: 'Queued',
      agent_id: 1,
      agent_name: 'core',
      priority: 'normal',
      description: 'Add a retry',
      category: 'general',
      complexity: 5,
      phase_label: 'single_shot',
      processor: 'ai',
      file_manifest: [],
      depends_on: [],
      tool_hints: [],
      research_hints: [],
      is_detached: false,
      placement_reason: 'local_queue_default',
      transcript: [],
      retry_count: 0,
      debug_iterations: 0,
      toestub_iterations: 0,
      socrates_iterations: 0,
      handoff_count: 0,
      generation: 0,
      created_at_ms: startMs,
      updated_at_ms: startMs,
    })
  })

  it('has a description of 1 to 131,072 characters', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const description = 'ä'.repeat(131_072)
    assert.equal(stored(orchestrator, {description}).description, description)
    const {message} = refused('task_invalid', () => submit(orchestrator, {description: `${description}x`}))
    assert.match(message, /131073 characters/)
    for (const blank of ['', ' \n\t']) refused('task_invalid', () => submit(orchestrator, {description: blank}))
    assert.equal(listTasks(orchestrator).length, 1)
  })

  const words: readonly (readonly [submission: Partial<SubmitTaskV1>, expected: Partial<Task>])[] = [
    [{priority: 'URGENT'}, {priority: 'urgent'}],
    [{priority: ' Background '}, {priority: 'background'}],
    [{priority: ''}, {priority: 'normal'}],
    [{file_manifest: [{path: 'a', access: 'WRITE'}]}, {file_manifest: [{path: 'a', access: 'write'}]}],
    [{processor: 'External' as 'external'}, {processor: 'external'}],
    [{enqueue_hints: {execution_role: 'BUILDER'}}, {execution_role: 'builder'}],
    [{enqueue_hints: {task_category: 'Type_Checking'}}, {category: 'typechecking'}],
    [{enqueue_hints: {task_category: 'unheard-of'}}, {category: 'general'}],
    [{enqueue_hints: {benchmark_tier: 'Issue_Repair'}}, {benchmark_tier: 'issue_repair'}],
    [{enqueue_hints: {complexity: 0}}, {complexity: 1}],
    [{enqueue_hints: {complexity: 99}}, {complexity: 10}],
    [{enqueue_hints: {complexity: 6.4}}, {complexity: 6}],
    [
      {enqueue_hints: {thread_id: 't', tenant_id: 'n', campaign_id: 'c', trace_id: 'r'}},
      {thread_id: 't', tenant_id: 'n', campaign_id: 'c', trace_id: 'r'},
    ],
    [
      {enqueue_hints: {model_preference: 'm', model_override: ' ', active_skill: 'sql'}},
      {model_preference: 'm', active_skill: 'sql'},
    ],
    [
      {enqueue_hints: {lost_node: {after_ms: 5, replace: false, reconcile: 'keep_replacement'}}},
      {lost_node: {after_ms: 5, replace: false, reconcile: 'keep_replacement'}},
    ],
    [{description: 'Use [[tool:grep]] and [[tool:ls]] [[tool:grep]]'}, {tool_hints: ['grep', 'ls']}],
    [{description: '[[research:sqlite wal]]'}, {research_hints: ['sqlite wal']}],
    [{description: '[[category:research]] find out'}, {category: 'research'}],
    [{description: '[[category:research]]', enqueue_hints: {task_category: 'codegen'}}, {category: 'codegen'}],
    [{description: '[PHASE:REPAIR] mend it'}, {phase_label: 'repair'}],
    [{description: '[campaign:spring] [tier:repo_regen]'}, {campaign_id: 'spring', benchmark_tier: 'repo_regen'}],
    [{description: '[[tool:]] [[tool:a', enqueue_hints: {tool_hints: ['b', ' b ']}}, {tool_hints: ['b']}],
  ]
  for (const [submission, expected] of words)
    it(`accepts ${JSON.stringify(submission)}`, async (t) => {
      const task = stored(await openTestOrchestrator(t), submission)
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(task[name as keyof Task], value, name)
    })

  const nonsense: readonly Partial<SubmitTaskV1>[] = [
    {priority: 'asap'},
    {processor: 'magic' as 'ai'},
    {processor: 'exec'},
    {exec: {template: 'build'}},
    {file_manifest: [{path: 'a', access: 'append'}]},
    {enqueue_hints: {execution_role: 'boss'}},
    {enqueue_hints: {benchmark_tier: 'gold'}},
    {capability_requirements: {min_vram_mb: 'much'}},
    {capability_requirements: {labels: 'pool=dev'}},
    {temp_deps: [0]},
    {enqueue_hints: {lost_node: [] as object}},
    {enqueue_hints: {lost_node: {after_ms: 0}}},
    {enqueue_hints: {lost_node: {after_ms: 1.5}}},
    {enqueue_hints: {lost_node: {after_ms: 2 ** 31}}},
    {enqueue_hints: {lost_node: {replace: 'yes' as unknown as boolean}}},
    {enqueue_hints: {lost_node: {reconcile: 'keep_both' as 'keep_original'}}},
  ]
  for (const submission of nonsense)
    it(`rejects ${JSON.stringify(submission)}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const before = contents(orchestrator)
      refused('task_invalid', () => submit(orchestrator, submission))
      assert.deepEqual(contents(orchestrator), before)
    })

  it('ignores an unknown tier tag in its text', async (t) => {
    const {benchmark_tier} = stored(await openTestOrchestrator(t), {description: 'Document the flag [tier:gold].'})
    assert.equal(benchmark_tier, undefined)
  })

  it('combines the labels of its hints and requirements', async (t) => {
    const {capability_requirements} = stored(await openTestOrchestrator(t), {
      capability_requirements: {min_cpu_cores: 4, labels: ['pool=dev'], unknown: true},
      enqueue_hints: {required_labels: ['region=eu', 'pool=dev']},
    })
    assert.deepEqual(capability_requirements?.labels, ['pool=dev', 'region=eu'])
    assert.equal(capability_requirements?.min_cpu_cores, 4)
  })

  it('is rejected while the orchestrator is disabled; existing tasks continue', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator, {processor: 'external'})
    const off = await openTestOrchestrator(t, {root: orchestrator.root, env: {SVC_ORCHESTRATOR_ENABLED: 'false'}})
    refused('orchestrator_disabled', () => submit(off))
    assert.equal(reportStatus(off).enabled, false)
    const {task} = takeClaim(off, {owner: 'x'})
    acceptTask(off, task.id, undefined, claimOf(off, task.id))
  })

  it('waits for approval if it asks for it', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    assert.equal(stored(orchestrator, {requires_approval: true}).status, 'BlockedOnApproval')
    assert.equal(stored(orchestrator, {enqueue_hints: {requires_approval: true}}).status, 'BlockedOnApproval')
  })
})

describe('a task resubmitted with its key', () => {
  it('is the existing one in any state', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const submission = {description: 'once', idempotency_key: 'k'}
    const first = submitTask(orchestrator, submission)
    assert.equal(first.duplicate, undefined)
    const last = readEvents(orchestrator).at(-1)?.id
    assert.deepEqual(submitTask(orchestrator, submission), {...first, duplicate: true})
    assert.equal(readEvents(orchestrator).at(-1)?.id, last)
    complete(orchestrator, first.task_id)
    const again = submitTask(orchestrator, submission)
    assert.deepEqual([again.task_id, again.status, again.duplicate], [first.task_id, 'Completed', true])
    assert.equal(listTasks(orchestrator).length, 1)
  })

  it('is rejected if its request differs', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator, {idempotency_key: 'k'})
    const {params} = refused('idempotency_mismatch', () =>
      submit(orchestrator, {description: 'other', idempotency_key: 'k'}),
    )
    assert.deepEqual(params, {key: 'k', task: 'T-0001'})
    assert.equal(listTasks(orchestrator).length, 1)
  })

  it('is a new one with another key or a blank one', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const ids = ['k', 'l', ' ', ' '].map((idempotency_key) => submit(orchestrator, {idempotency_key}))
    assert.deepEqual(ids, [1, 2, 3, 4])
  })
})

describe('the agent of a task', () => {
  it('is its target agent, spawned if necessary', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const {agent_id, agent_name} = stored(orchestrator, {target_agent: 'writer'})
    assert.equal(agent_name, 'writer')
    assert.equal(stored(orchestrator, {target_agent: ' writer '}).agent_id, agent_id)
    assert.deepEqual(
      listAgents(orchestrator).map(({name, kind}) => [name, kind]),
      [
        ['core', 'reserved'],
        ['writer', 'dynamic'],
      ],
    )
  })

  it('is rejected at the maximum number of agents', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmax_agents = 1\n'})
    submit(orchestrator)
    const before = contents(orchestrator)
    refused('max_agents_reached', () => submit(orchestrator, {target_agent: 'writer'}))
    assert.deepEqual(contents(orchestrator), before)
  })

  for (const [minAgents, names] of [
    [1, ['core']],
    [3, ['core', 'core-2', 'core-3']],
    [0, ['default']],
  ] as const)
    it(`is one of ${names.length} if min_agents is ${minAgents}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t, {toml: `[orchestrator]\nmin_agents = ${minAgents}\n`})
      submit(orchestrator)
      assert.deepEqual(
        listAgents(orchestrator).map(({name}) => name),
        names,
      )
    })

  for (const [fallback, names] of [
    [true, ['core', 'core']],
    [false, ['general', 'general']],
  ] as const)
    it(`is ${names[0]} for an unrelated task if fallback_to_single_agent is ${fallback}`, async (t) => {
      const toml = `[orchestrator]\nfallback_to_single_agent = ${fallback}\n`
      const orchestrator = await openTestOrchestrator(t, {toml})
      assert.deepEqual([stored(orchestrator, {}).agent_name, stored(orchestrator, {}).agent_name], names)
    })

  it('is the least busy one', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmin_agents = 2\n'})
    const names = [{priority: 'urgent'}, {}, {}, {}, {}].map(
      (submission) => stored(orchestrator, submission).agent_name,
    )
    assert.deepEqual(names, ['core', 'core-2', 'core-2', 'core-2', 'core'])
  })

  const groups =
    '[[affinity_groups]]\nname = "docs"\npatterns = ["docs/**"]\n\n[[affinity_groups]]\nname = "app"\npatterns = ["src/**"]\n'

  it('is that of the group of its files, spawned if necessary', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: groups})
    const names = ['docs/a.md', 'src/a.ts', 'docs/b.md', 'other'].map(
      (path) => requireTask(orchestrator, submitWriter(orchestrator, [path])).agent_name,
    )
    assert.deepEqual(names, ['docs', 'app', 'docs', 'core'])
  })

  it('is the least busy one if the one of the group cannot be spawned', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: `[orchestrator]\nmax_agents = 1\n\n${groups}`})
    assert.equal(requireTask(orchestrator, submitWriter(orchestrator, ['docs/a.md'])).agent_name, 'core')
  })

  it('is the former owner of its files, unless that lost them', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'idle'})
    const first = submitWriter(orchestrator, ['a.ts'], {target_agent: 'owner'})
    for (let i = 0; i < 5; i++) submit(orchestrator, {target_agent: 'owner'})
    complete(orchestrator, first)
    const second = submitWriter(orchestrator, ['a.ts'])
    assert.equal(requireTask(orchestrator, second).agent_name, 'owner')
    cancelTask(orchestrator, second)
    assert.notEqual(requireTask(orchestrator, submitWriter(orchestrator, ['a.ts'])).agent_name, 'owner')
  })
})

describe('a task that needs GPU memory', () => {
  for (const [offered, reason] of [
    [undefined, 'local_queue_fallback_insufficient_vram'],
    [8191, 'local_queue_fallback_insufficient_vram'],
    [8192, 'local_queue_default'],
  ] as const)
    it(`of 8192 MiB is placed with ${reason} if agents offer ${offered}`, async (t) => {
      const toml = offered === undefined ? '' : `[orchestrator.default_agent_capabilities]\nmin_vram_mb = ${offered}\n`
      const orchestrator = await openTestOrchestrator(t, {toml})
      const {placement_reason, status} = stored(orchestrator, {capability_requirements: {min_vram_mb: 8192}})
      assert.deepEqual([placement_reason, status], [reason, 'Queued'])
      const [event] = readEvents(orchestrator, {types: ['task_placed']})
      assert.equal(event?.kind.type === 'task_placed' && event.kind.placement_reason, reason)
    })
})

describe('a task for full queues', () => {
  const full = (strategy: string, limit = 2) =>
    `[orchestrator]\nmax_queue_len = ${limit}\nqueue_overflow_strategy = "${strategy}"\n`

  it('is rejected with the strategy block', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: full('block')})
    const first = submit(orchestrator)
    submit(orchestrator)
    assert.deepEqual(refused('queue_full', () => submit(orchestrator, {priority: 'urgent'})).params, {
      queued: 2,
      limit: 2,
    })
    complete(orchestrator, first)
    submit(orchestrator)
  })

  it('replaces a weaker task with the strategy drop_lowest', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: full('drop_lowest')})
    const weak = submit(orchestrator, {priority: 'background'})
    const normal = submit(orchestrator)
    refused('queue_full', () => submit(orchestrator, {priority: 'background'}))
    assert.equal(statusOf(orchestrator, submit(orchestrator)), 'Queued')
    const {status, status_reason} = requireTask(orchestrator, weak)
    assert.deepEqual([status, status_reason, statusOf(orchestrator, normal)], ['Cancelled', 'queue_overflow', 'Queued'])
    refused('queue_full', () => submit(orchestrator))
  })

  it('never replaces a task that it depends on', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: full('drop_lowest', 1)})
    const parent = submit(orchestrator, {priority: 'background'})
    assert.throws(() => submit(orchestrator, {priority: 'urgent', depends_on: [parent]}))
    assert.equal(statusOf(orchestrator, parent), 'Queued')
  })

  it('gets its own agent with the strategy spawn_new_agent, up to the maximum', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: `${full('spawn_new_agent', 1)}max_agents = 2\n`})
    submit(orchestrator)
    assert.match(stored(orchestrator, {}).agent_name, /^overflow-/)
    const before = contents(orchestrator)
    refused('queue_full', () => submit(orchestrator))
    assert.deepEqual(contents(orchestrator), before)
  })
})

describe('the lineage of a task', () => {
  const ids = {journey_id: 'j', thread_id: 'th', trace_id: 'tr', correlation_id: 'c'}
  interface Row {
    kind: string
    session_id: string
    payload_json: string
  }
  const lineage = ({store}: TestOrchestrator) =>
    store.all<Row>('SELECT kind, session_id, payload_json FROM orchestration_lineage_events ORDER BY id')

  it('contains its submission and its end, with the ids of the request', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {...ids, session_id: 's'})
    complete(orchestrator, id)
    const rows = lineage(orchestrator)
    assert.deepEqual(
      rows.map(({kind, session_id}) => [kind, session_id]),
      [
        ['task_submitted', 's'],
        ['task_completed', 's'],
      ],
    )
    for (const {payload_json} of rows) {
      const {journey_id, thread_id, trace_id, correlation_id} = JSON.parse(payload_json)
      assert.deepEqual({journey_id, thread_id, trace_id, correlation_id}, ids)
    }
  })

  it('is not written if it is disabled', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {env: {SVC_ORCH_LINEAGE_OFF: '1'}})
    complete(orchestrator, submit(orchestrator, ids))
    assert.deepEqual(lineage(orchestrator), [])
  })
})

describe('the contract reported to a client', () => {
  for (const [toml, contract] of [
    ['', undefined],
    ['[orchestrator]\norchestration_migration = { orchestration_v2_enabled = true }\n', 'v2'],
    ['[orchestrator.orchestration_migration]\norchestration_v2_enabled = true\n', 'v2'],
  ] as const)
    it(`is ${contract} with ${JSON.stringify(toml)}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t, {toml})
      assert.equal(submitTask(orchestrator, {description: 'work'}).orchestration_contract, contract)
    })
})
