import assert from 'node:assert/strict'
import {mkdir} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import type {Accepted, Task} from '../../src/tasks/index.js'
import {breakStore} from '../support/empty-store.js'
import {assertFits, jsonLines, orchWorkspace, templates} from '../support/orch-workspace.js'
import {writeFiles} from '../support/temporary.js'

describe('svc orch submit', {concurrency: 3}, () => {
  it('prints only the id, and stores the task for other processes', async (t) => {
    const {text, status, task, run} = await orchWorkspace(t)
    assert.equal(await text(['orch', 'submit', 'Add retry']), 'T-0001\n')
    const {stdout, stderr} = await run(['orch', 'submit', 'Add another'])
    assert.deepEqual([stdout, stderr], ['T-0002\n', 'T-0002 is Queued (agent core).\n'])
    const report = await status()
    assert.deepEqual([report.total_queued, report.daemon, report.agent_count], [2, null, 1])
    const {description, agent_name: agent, processor} = await task('T-0001')
    assert.deepEqual([description, agent, processor], ['Add retry', 'core', 'ai'])
  })

  it('prints the agent and status of the task with --json', async (t) => {
    const {json} = await orchWorkspace(t)
    const {uid, trace_id, ...rest} = await json<Accepted>('cli/orch-accepted.v1', ['orch', 'submit', 'x'])
    assert.deepEqual(rest, {
      task_id: 1,
      display_id: 'T-0001',
      agent_id: 1,
      agent_name: 'core',
      status: 'Queued',
      placement_reason: 'local_queue_default',
    })
    assert.match(`${uid} ${trace_id}`, /^[0-9a-f-]{36} [0-9a-f]{32}$/)
    const env = {SVC_ORCHESTRATOR_MIGRATION_V2_ENABLED: 'true'}
    const second = await json<Accepted>('cli/orch-accepted.v1', ['orch', 'submit', 'y'], {env})
    assert.equal(second.orchestration_contract, 'v2')
  })

  it('makes a plan of a goal with --planning-mode force_plan', async (t) => {
    const {run, task} = await orchWorkspace(t)
    const goal = 'Add the parser; add the printer'
    const {stdout, stderr} = await run([
      'orch',
      'submit',
      goal,
      '--planning-mode',
      'force_plan',
      '--max-plan-depth',
      '2',
    ])
    assert.equal(stdout, 'T-0001\n')
    assert.match(stderr, /first task of (plan-\S+)\. To follow the plan, run `svc orch plan status \1`\./)
    assert.equal((await task('T-0001')).description, 'Add the parser')
  })

  it('submits a graph with --dag', async (t) => {
    const {run, tasks} = await orchWorkspace(t)
    const {stdout} = await run(['orch', 'submit', 'Add the parser', '--dag', 'shard', '--shards', '1'])
    assert.equal(stdout, 'T-0001\nT-0002\nT-0003\n')
    assert.deepEqual(
      (await tasks()).map(({phase_label}) => phase_label),
      ['reduce', 'shard_validate', 'shard_gen'],
    )
  })

  it('submits all properties of a task', async (t) => {
    const {submit, task} = await orchWorkspace(t)
    const first = await submit('first', '--processor', 'external')
    const asked = {
      priority: 'urgent',
      'session-id': 's1',
      'journey-id': 'j1',
      'thread-id': 'th1',
      'trace-id': 'tr1',
      'correlation-id': 'c1',
      'tenant-id': 'te1',
      'campaign-id': 'ca1',
      category: 'review',
      complexity: '8',
      role: 'Verifier',
      skill: 'reading',
      model: 'run-7',
      'min-vram-mb': '512',
      'min-cpu-cores': '1',
      after: first,
      agent: 'reviewer',
    }
    const flags = Object.entries(asked).flatMap(([name, value]) => [`--${name}`, value])
    const id = await submit('second', '--needs-gpu', '--prefer-gpu', '--label', 'a=b', '--label', 'c', ...flags)
    const found = await task(id)
    const {capability_requirements: needs} = found
    assert.deepEqual(
      {...needs, labels: needs?.labels},
      {...needs, gpu_cuda: true, prefer_gpu_compute: true, min_vram_mb: 512, min_cpu_cores: 1, labels: ['a=b', 'c']},
    )
    const expected: Partial<Task> = {
      status: 'Blocked',
      blocked_on: 1,
      depends_on: [1],
      agent_name: 'reviewer',
      priority: 'urgent',
      session_id: 's1',
      journey_id: 'j1',
      thread_id: 'th1',
      trace_id: 'tr1',
      correlation_id: 'c1',
      tenant_id: 'te1',
      campaign_id: 'ca1',
      category: 'review',
      complexity: 8,
      execution_role: 'verifier',
      active_skill: 'reading',
      model_override: 'run-7',
    }
    assert.deepEqual(found, {...found, ...expected})
  })

  it('records a harness and a context, with a notice that they are not enforced', async (t) => {
    const {cwd, run, task, text} = await orchWorkspace(t, `${templates}test = ["true"]\n`)
    await writeFiles(cwd, {
      'harness.yaml': 'required_checks: [test]\nrequired_artifacts: [a.md]\n',
      'retrieval.json': '{"repo_hits": 1}',
    })
    const accept = ['--accept', 'Empty input returns []', '--accept', 'Fast']
    const files = ['--harness-spec', 'harness.yaml', '--context-envelope', '-', '--session-id', 's1']
    const {stdout, stderr} = await run(['orch', 'submit', 'Fix it', ...accept, ...files], {input: '{"content": {}}'})
    assert.equal(stdout, 'T-0001\n')
    assert.match(stderr, /notice: .* recorded but not enforced\. .* harness_completion_guard = "enforce"/)
    assert.deepEqual((await task(1)).harness, {
      required_checks: [{check: 'test'}],
      required_artifacts: ['a.md'],
      accept: ['Empty input returns []', 'Fast'],
    })
    assert.match(
      await text(['orch', 'task', '1']),
      /checks +test\nartifacts +a\.md\naccept +1\. Empty input returns \[\] 2\. Fast\n/,
    )
    const enforced = {env: {SVC_ORCHESTRATOR_HARNESS_COMPLETION_GUARD: 'enforce'}}
    assert.doesNotMatch((await run(['orch', 'submit', 'x', ...accept], enforced)).stderr, /not enforced/)
    assert.equal((await run(['orch', 'submit', 'x', '--retrieval', 'retrieval.json'])).exitCode, 0)
    const batch = await run(['orch', 'submit', '--batch', '-'], {input: '{"description": "b", "accept": ["Fast"]}'})
    assert.match(batch.stderr, /not enforced/)
    for (const [args, exitCode, message] of [
      [['-', '--harness-spec', '-'], 2, /Only one of the description and --harness-spec can read standard input/],
      [['x', '--retrieval', 'retrieval.json', '--context-envelope', 'retrieval.json'], 2, /exclude each other/],
      [['x', '--retrieval', 'none.json'], 3, /none\.json/],
      [['x', '--context-envelope', '-'], 1, /standard input/],
    ] as const) {
      const failed = await run(['orch', 'submit', ...args], {input: '{'})
      assert.deepEqual([failed.exitCode, message.test(failed.stderr)], [exitCode, true], failed.stderr)
    }
  })

  it('accepts timeout, retries and earliest start, and shows them', async (t) => {
    const {submit, text, task, fails, run} = await orchWorkspace(t)
    const before = Date.now()
    const flags = ['--task-timeout', '1m30s', '--retries', '2', '--not-before', '2126-12-01T08:00:00.000Z']
    const id = await submit('x', ...flags)
    const {task_timeout_ms: timeout, retries, not_before_ms: due} = await task(id)
    assert.deepEqual([timeout, retries, due], [90_000, 2, Date.UTC(2126, 11, 1, 8)])
    assert.match(await text(['orch', 'tasks']), /T-0001 +Queued, \d+d left +normal/)
    assert.match(
      await text(['orch', 'task', id]),
      /\ntimeout +90 s\nretries +0, maximum 2 after failures\n(.*\n)*not before +2126-12-01T08:00:00\.000Z\n/,
    )
    const relative = (await task(await submit('y', '--not-before', '+2h'))).not_before_ms ?? 0
    assert.ok(relative >= before + 7_200_000 && relative <= Date.now() + 7_200_000, String(relative))
    const local = (await task(await submit('z', '--not-before', '2126-12-01'))).not_before_ms
    assert.equal(local, new Date(2126, 11, 1).getTime())
    const input = JSON.stringify([{description: 'b', task_timeout_ms: 7, retries: 1, not_before_ms: 9}])
    const batch = await run(['orch', 'submit', '--batch', '-'], {input})
    const {task_timeout_ms, not_before_ms, ...rest} = await task(batch.stdout.trim())
    assert.deepEqual([task_timeout_ms, rest.retries, not_before_ms], [7, 1, 9])
    for (const value of ['tomorrow', '2126-02-30', '2126-12-01T25:00', '+', '+soon'])
      assert.match(await fails(['orch', 'submit', 'x', '--not-before', value], 2, 'flag_value'), /2026-12-01T08:00, or/)
    for (const value of ['0s', '25d', '10', '-1m'])
      await fails(['orch', 'submit', 'x', `--task-timeout=${value}`], 2, 'flag_value')
    await fails(['orch', 'submit', 'x', '--retries', '21'], 2, 'usage')
  })

  it('accepts what happens if the node that runs the task is lost, and shows it', async (t) => {
    const {submit, text, task, fails} = await orchWorkspace(t)
    const flags = ['--lost-after', '90s', '--no-replace-lost', '--reconcile', 'keep_replacement']
    const {lost_node: policy} = await task(await submit('x', ...flags))
    assert.deepEqual(policy, {after_ms: 90_000, replace: false, reconcile: 'keep_replacement'})
    assert.match(await text(['orch', 'task', '1']), /\nlost node +after 90 s, not replaced, keep_replacement\n/)
    assert.deepEqual((await task(await submit('y', '--replace-lost'))).lost_node, {replace: true})
    assert.equal((await task(await submit('z'))).lost_node, undefined)
    for (const value of ['0s', '25d']) await fails(['orch', 'submit', 'x', '--lost-after', value], 2, 'flag_value')
    await fails(['orch', 'submit', 'x', '--reconcile', 'keep_both'], 2, 'usage')
  })

  it('resolves files relative to the current folder, with write access unless :read is given', async (t) => {
    const {submit, task, cwd, fails} = await orchWorkspace(t)
    const inner = join(cwd, 'lib/deep')
    await mkdir(inner, {recursive: true})
    await submit('x', '-C', inner, '-f', 'a.ts', '--file', '../b.ts:read', '-f', join(cwd, 'c:d.ts:WRITE'))
    assert.deepEqual((await task(1)).file_manifest, [
      {path: 'lib/deep/a.ts', access: 'write'},
      {path: 'lib/b.ts', access: 'read'},
      {path: 'c:d.ts', access: 'write'},
    ])
    await fails(['orch', 'submit', 'y', '-f', '../outside'], 2, 'task_path_escapes')
  })

  it('reads the description from standard input', async (t) => {
    const {text, task, fails} = await orchWorkspace(t)
    assert.equal(await text(['orch', 'submit', '-'], {input: 'two\nlines\n'}), 'T-0001\n')
    assert.equal((await task(1)).description, 'two\nlines')
    await fails(['orch', 'submit', '-'], 2, 'task_invalid')
    await fails(['orch', 'submit', '-'], 2, 'stdin_not_utf8', {input: new Uint8Array([0xc3])})
  })

  it('returns the same task for the same key', async (t) => {
    const {submit, json, fails, tasks} = await orchWorkspace(t)
    await submit('x', '--key', 'k')
    const again = await json<Accepted>('cli/orch-accepted.v1', ['orch', 'submit', 'x', '--key', 'k'])
    assert.deepEqual([again.task_id, again.duplicate], [1, true])
    await fails(['orch', 'submit', 'other', '--key', 'k'], 4, 'idempotency_mismatch')
    assert.equal((await tasks()).length, 1)
  })

  it('submits a command template with parameters', async (t) => {
    const {submit, task, fails} = await orchWorkspace(t)
    await submit('x', '--exec', 'say', '--param', 'word=a=b c')
    const {processor, exec} = await task(1)
    assert.deepEqual([processor, exec], ['exec', {template: 'say', params: {word: 'a=b c'}}])
    await fails(['orch', 'submit', 'x', '--param', 'word=a'], 2, 'usage')
    await fails(['orch', 'submit', 'x', '--exec', 'say', '--param', 'word'], 2, 'flag_value')
    await fails(['orch', 'submit', 'x', '--processor', 'ai', '--exec', 'say'], 2, 'task_invalid')
    await fails(['orch', 'submit', 'x', '--processor', 'magic'], 2, 'usage')
  })

  it('waits for approval with --requires-approval', async (t) => {
    const {submit, task} = await orchWorkspace(t)
    await submit('x', '--requires-approval')
    assert.equal((await task(1)).status, 'BlockedOnApproval')
  })

  it('refuses invalid input', async (t) => {
    const {fails, submit, tasks} = await orchWorkspace(t)
    await submit('x', '--processor', 'external')
    await fails(['orch', 'submit'], 2, 'usage')
    await fails(['orch', 'submit', ' '], 2, 'task_invalid')
    await fails(['orch', 'submit', 'x', '-p', 'soon'], 2, 'task_invalid')
    await fails(['orch', 'submit', 'x', '--complexity', '11'], 2, 'usage')
    await fails(['orch', 'submit', 'x', '--timeout', '3'], 2, 'usage')
    await fails(['orch', 'submit', 'x', '--session-id', 's'.repeat(3000)], 2, 'task_invalid')
    await fails(['orch', 'submit', 'x', '--after', 'first'], 2, 'usage')
    assert.match(await fails(['orch', 'submit', 'x', '--after', '7'], 3, 'dependency_unknown'), /T-0007/)
    await fails(['orch', 'submit', 'x'], 4, 'orchestrator_disabled', {env: {SVC_ORCHESTRATOR_ENABLED: 'false'}})
    assert.equal((await tasks()).length, 1)
  })

  it('warns once about an invalid variable and continues', async (t) => {
    const {run} = await orchWorkspace(t)
    const {stdout, stderr} = await run(['orch', 'submit', 'x'], {env: {SVC_ORCHESTRATOR_MAX_AGENTS: 'many'}})
    assert.equal(stdout, 'T-0001\n')
    assert.equal(stderr.match(/warning: SVC_ORCHESTRATOR_MAX_AGENTS must be .*, not "many"/g)?.length, 1)
  })
})

const batch = [
  {description: 'first', processor: 'external', file_manifest: [{path: 'a.ts', access: 'write'}]},
  {description: 'second', processor: 'external', temp_deps: [0]},
]

describe('svc orch submit --batch', {concurrency: 3}, () => {
  for (const [form, source] of [
    ['a JSON array', `\n${JSON.stringify(batch, null, 2)}\n`],
    ['JSON lines', `${batch.map((each) => JSON.stringify(each)).join('\n\n')}\n`],
  ] as const)
    it(`accepts ${form}, from a file and from standard input`, async (t) => {
      const {cwd, text, tasks} = await orchWorkspace(t)
      await writeFiles(cwd, {'tasks.json': source})
      assert.equal(await text(['orch', 'submit', '--batch', 'tasks.json']), 'T-0001\nT-0002\n')
      const accepted = jsonLines<Accepted>(await text(['orch', 'submit', '--batch', '-', '--json'], {input: source}))
      for (const one of accepted) await assertFits('cli/orch-accepted.v1', one)
      assert.deepEqual(
        accepted.map(({display_id, status}) => [display_id, status]),
        [
          ['T-0003', 'Queued'],
          ['T-0004', 'Blocked'],
        ],
      )
      const [fourth] = await tasks('--limit', '1')
      assert.deepEqual([fourth?.depends_on, fourth?.blocked_on], [[3], 3])
    })

  for (const [fault, source, code, message] of [
    ['that violates the contract', [batch[0], {descriptio: 'x'}], 'task_invalid', /Task 2 of the batch .*"descriptio"/],
    [
      'with an unknown value',
      [batch[0], {description: 'x', priority: 'soon'}],
      'task_invalid',
      /Task 2 of the batch \("x"\)/,
    ],
    ['that depends on itself', [{description: 'x', temp_deps: [0]}], 'dependency_cycle', /Task 1 \("x"\) -> Task 1 /],
    ['that is not JSON', '{"description": "x"}\n{"description": ', 'task_invalid', /line 2 cannot be read as JSON/],
    ['that is not a task', '17', 'task_invalid', /Task 1 of the batch/],
    ['of a broken array', '[{"description": "x"}', 'task_invalid', /cannot be read as JSON/],
  ] as const)
    it(`submits nothing of a batch with a task ${fault}`, async (t) => {
      const {fails, tasks} = await orchWorkspace(t)
      const input = typeof source === 'string' ? source : JSON.stringify(source)
      assert.match(await fails(['orch', 'submit', '--batch', '-'], 2, code, {input}), message)
      assert.deepEqual(await tasks(), [])
    })

  it('requires an existing file and no flags of a single task', async (t) => {
    const {fails} = await orchWorkspace(t)
    await fails(['orch', 'submit', '--batch', 'none.json'], 3, 'file_not_found')
    await fails(['orch', 'submit', '--batch', 'none.json', '-p', 'urgent'], 2, 'usage')
    await fails(['orch', 'submit', 'x', '--batch', 'none.json'], 2, 'usage')
  })

  it('waits for all tasks of a batch', async (t) => {
    const {startInTurn, text, cwd} = await orchWorkspace(t)
    const source = JSON.stringify([batch[0], {description: 'other', processor: 'external'}])
    await writeFiles(cwd, {'tasks.json': source})
    const waiting = startInTurn(['orch', 'submit', '--batch', 'tasks.json', '--wait'])
    await waiting.says(/T-0002 is Queued/)
    await text(['orch', 'cancel', '1'])
    await text(['orch', 'claim'])
    await text(['orch', 'complete', '2', '--claim', '1'])
    assert.equal(await waiting.end(), 1)
    assert.deepEqual(waiting.lines, ['T-0001 is Cancelled (agent core)', 'T-0002 is Completed (agent core)'])
    assert.match(waiting.stderr(), /T-0001 is Cancelled\. \(task_not_successful\)/)
  })
})

describe('svc orch submit --wait', {concurrency: 3}, () => {
  const external = ['orch', 'submit', 'x', '--processor', 'external', '--wait']

  it('prints the task when it is completed', async (t) => {
    const {startInTurn, text} = await orchWorkspace(t)
    const claiming = text(['orch', 'claim', '--wait'])
    const waiting = startInTurn([...external, '--json'])
    const [id = '', generation = ''] = (await claiming).trim().split(' ')
    await text(['orch', 'complete', id, '--claim', generation, '--summary', 'well done'])
    assert.equal(await waiting.end(), 0)
    assert.equal(waiting.lines.length, 1)
    const task = JSON.parse(await waiting.line(1)) as Task
    await assertFits('cli/orch-task.v1', task)
    assert.deepEqual([task.status, task.result], ['Completed', {text: 'well done'}])
    assert.doesNotMatch(waiting.stderr(), /no daemon/)
  })

  it('keeps waiting while the task is doubted, and fails when the task fails', async (t) => {
    const {startInTurn, text} = await orchWorkspace(t)
    const waiting = startInTurn(external)
    await waiting.says(/T-0001 is Queued/)
    await text(['orch', 'doubt', '1'])
    await text(['orch', 'resolve', '1', '--validated', '--report', 'fine'])
    await text(['orch', 'claim'])
    await text(['orch', 'fail', '1', '--claim', '2', '-r', 'no luck.'])
    assert.equal(await waiting.end(), 1)
    assert.match(waiting.lines.join('\n'), /^task +T-0001 .*\nstatus +Failed\nreason +no luck\./)
    assert.match(waiting.stderr(), /error: T-0001 failed: no luck\. \(task_not_successful\)/)
  })

  it('prints only the error of a failed task with --json', async (t) => {
    const {startInTurn, text} = await orchWorkspace(t)
    const waiting = startInTurn([...external, '--json'])
    await waiting.says(/T-0001 is Queued/)
    await text(['orch', 'cancel', '1', '-r', 'not needed'])
    assert.equal(await waiting.end(), 1)
    assert.equal(waiting.lines.length, 1)
    const body = JSON.parse(await waiting.line(1))
    await assertFits('cli/error.v1', body)
    assert.equal(body.error.code, 'task_not_successful')
    assert.match(body.error.message, /T-0001 is Cancelled: not needed\.$/)
  })

  it('stops waiting after --timeout, and prints a notice if no daemon is running', async (t) => {
    const {run, task} = await orchWorkspace(t)
    const {exitCode, stdout, stderr} = await run(['orch', 'submit', 'x', '--wait', '--timeout', '1'])
    assert.deepEqual([exitCode, stdout], [5, ''])
    assert.match(stderr, /notice: No daemon is running in this workspace/)
    assert.match(stderr, /T-0001 is still Queued after 1 s\. \(task_wait_timeout\)/)
    assert.equal((await task(1)).status, 'Queued')
  })

  it('exits with status 130 on SIGINT without stopping the task', async (t) => {
    const {start, task} = await orchWorkspace(t)
    const waiting = start(external)
    await waiting.says(/T-0001 is Queued/)
    assert.equal(await waiting.end('SIGINT'), 130)
    assert.match(
      waiting.stderr(),
      /error: The wait was interrupted; T-0001 is still Queued\. \(wait_interrupted\)\n {2}hint: Wait again with `svc orch task T-0001 --wait`\.\n$/,
    )
    assert.deepEqual(waiting.lines, [])
    assert.equal((await task(1)).status, 'Queued')
  })
})

describe('svc orch task --wait', {concurrency: 3}, () => {
  it('waits for an existing task and shows it', async (t) => {
    const {startInTurn, submit, text} = await orchWorkspace(t)
    await submit('x', '--processor', 'external')
    const waiting = startInTurn(['orch', 'task', '1', '--wait', '--json'])
    await text(['orch', 'claim', '--as', 'me'])
    await text(['orch', 'complete', '1', '--claim', '1', '--summary', 'done'])
    const task = JSON.parse(await waiting.line(1)) as Task
    await assertFits('cli/orch-task.v1', task)
    assert.deepEqual([task.status, task.result, await waiting.end()], ['Completed', {text: 'done'}, 0])
  })

  it('exits with status 1 if the task was not completed, and with 3 if there is none', async (t) => {
    const {submit, text, fails, run} = await orchWorkspace(t)
    await submit('x')
    await text(['orch', 'cancel', '1'])
    const {stdout, exitCode} = await run(['orch', 'task', 'T-0001', '--wait'])
    assert.equal(exitCode, 1)
    assert.match(stdout, /^task +T-0001 .*\nstatus +Cancelled\n/)
    await fails(['orch', 'task', '2', '--wait'], 3, 'task_not_found')
    await fails(['orch', 'task', '1', '--wait', '--follow'], 2, 'usage')
  })
})

describe('a workspace', {concurrency: 2}, () => {
  it('with contradictory settings accepts no task', async (t) => {
    const {fails} = await orchWorkspace(t, '[orchestrator]\nmin_agents = 9\nmax_agents = 2\n')
    assert.match(await fails(['orch', 'submit', 'x'], 2, 'orchestrator_config_invalid'), /min_agents \(9\)/)
  })

  it('with an unusable store makes all commands exit with status 5 and report its path', async (t) => {
    const {fails, cwd} = await orchWorkspace(t, templates)
    await breakStore(cwd)
    const env = {SVC_DB_PATH: join(cwd, 'user.db')}
    for (const args of [
      ['orch', 'submit', 'x'],
      ['orch', 'tasks'],
      ['daemon', 'run'],
    ])
      assert.match(await fails(args, 5, 'store_unopenable', {env}), /\.svc\/store\.db/)
  })

  it('with an unusable store uses the store of the user if the fallback is on, with a warning', async (t) => {
    const {run, cwd} = await orchWorkspace(t, templates)
    await breakStore(cwd)
    const env = {SVC_DB_PATH: join(cwd, 'user.db'), SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: '1'}
    const submitted = await run(['orch', 'submit', 'x'], {env})
    assert.equal(submitted.stdout, 'T-0001\n')
    const status = await run(['orch', 'status', '--json'], {env})
    assert.equal(JSON.parse(status.stdout).active_store, 'canonical')
    for (const {stderr} of [submitted, status])
      assert.match(stderr, /warning: .*store\.db.* Using .*user\.db instead\./)
  })

  it('with a damaged store does not use the fallback, since that would split the tasks', async (t) => {
    const {fails, cwd} = await orchWorkspace(t, templates)
    await writeFiles(cwd, {
      '.svc/store.db': 'this is no database, but a file of another kind, long enough to be looked at',
    })
    await fails(['orch', 'submit', 'x'], 5, 'store_damaged', {env: {SVC_DB_PATH: join(cwd, 'user.db')}})
  })
})
