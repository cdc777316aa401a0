import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {rename, rm} from 'node:fs/promises'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf, SvcError} from '../../src/errors/index.js'
import {configureLog} from '../../src/log/index.js'
import {reportStatus, setPaused, spawnAgent} from '../../src/orchestrator/index.js'
import {openSessions} from '../../src/sessions/index.js'
import {
  cancelTask,
  doubtTask,
  type EventRecord,
  readEvents,
  requireTask,
  submitBatch,
  takeClaim,
} from '../../src/tasks/index.js'
import {done, type Script, ScriptedProcessor, startDaemon, untilAborted} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {statusOf, submit} from '../orchestrator/support/tasks.js'
import {projectFile} from '../support/project.js'
import {until} from '../support/until.js'

/** A workspace as seen by a daemon and by a client in another process. */
async function workspace(t: TestContext, toml = '', env = {}) {
  const orchestrator = await openTestOrchestrator(t, {toml, env, clock: 'real'})
  const client = await openTestOrchestrator(t, {root: orchestrator.root, clock: 'real'})
  return {orchestrator, client}
}

async function running(t: TestContext, script?: Script, {toml = '', drainMs = 10_000, env = {}} = {}) {
  const {orchestrator, client} = await workspace(t, toml, env)
  const processor = new ScriptedProcessor(script)
  const daemon = await startDaemon(t, orchestrator, processor, {drainMs})
  return {orchestrator, client, processor, daemon}
}

describe('a daemon that runs no tasks', () => {
  it('leaves queued tasks alone and releases expired claims', async (t) => {
    const {orchestrator, client} = await workspace(t)
    const processor = new ScriptedProcessor()
    await startDaemon(t, orchestrator, processor, {runsTasks: false})
    const id = submit(client)
    const external = submit(client, {processor: 'external'})
    takeClaim(client, {owner: 'ada', ttlMs: 1})
    await until(() => statusOf(client, external) === 'Queued', 'the claim is over')
    assert.deepEqual([statusOf(client, id), processor.started], ['Queued', []])
  })
})

describe('a daemon whose workspace is renamed', () => {
  it('ends, and the next one there runs the tasks', async (t) => {
    const {orchestrator, daemon} = await running(t, (_, __, signal) => untilAborted(signal))
    const id = submit(orchestrator)
    await until(() => statusOf(orchestrator, id) === 'InProgress', 'the task runs')
    const root = `${orchestrator.root}-renamed`
    t.after(() => rm(root, {recursive: true, force: true}))
    await rename(orchestrator.root, root)
    await assert.rejects(daemon.ended, (error) => isErrorOf(error, 'store_moved'))
    const there = await openTestOrchestrator(t, {root, clock: 'real'})
    // Otherwise the lease ends with the process, which is this one.
    there.store.run('UPDATE orch_leases SET pid = 0, expires_at_ms = 0')
    await startDaemon(t, there, new ScriptedProcessor())
    await until(() => statusOf(there, id) === 'Completed', 'the task is completed')
  })
})

describe('a daemon that cannot write its store for a while, as on a full disk', () => {
  it('keeps a result until it can be stored, and runs the tasks that follow', async (t) => {
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const {orchestrator, client} = await running(t, async (_, __, signal) => {
      await Promise.race([finished, untilAborted(signal)])
      return done('kept')
    })
    const first = submit(client)
    await until(() => statusOf(client, first) === 'InProgress', 'the task runs')
    const refused = new Set<string>()
    const write = (line: string) => {
      const {err, msg} = JSON.parse(line)
      if (err?.code === 'store_unwritable') refused.add(msg)
    }
    configureLog({filter: 'error', format: 'json', stream: {write}})
    orchestrator.store.run('PRAGMA query_only = 1')
    const second = submit(client)
    finish()
    await until(() => refused.size === 2, 'a round and the result of the task were refused')
    orchestrator.store.run('PRAGMA query_only = 0')
    await until(() => [first, second].every((id) => statusOf(client, id) === 'Completed'), 'both are completed')
    assert.equal(requireTask(client, first).result?.text, 'kept')
  })
})

describe('a daemon', () => {
  it('runs one task per agent, in queue order, and agents in parallel', async (t) => {
    let atOnce = 0
    let most = 0
    const {client, processor} = await running(t, async () => {
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setTimeout(resolve, 20))
      atOnce--
      return done()
    })
    spawnAgent(client, {name: 'one'})
    spawnAgent(client, {name: 'two'})
    const submissions = Array.from({length: 12}, (_, i) => ({
      description: 'work',
      target_agent: i % 2 === 0 ? 'one' : 'two',
      priority: i < 6 ? 'background' : 'urgent',
    }))
    const ids = submitBatch(client, submissions).map(({task_id}) => task_id)
    await until(() => reportStatus(client).total_completed === 12, 'all tasks are completed')
    assert.equal(processor.mostAtOnce, 1)
    assert.equal(most, 2)
    const even = processor.started.filter((id) => (id - (ids[0] ?? 0)) % 2 === 0)
    assert.deepEqual(
      even,
      [6, 8, 10, 0, 2, 4].map((place) => ids[place]),
    )
  })

  it('stores the result, phases, messages and cost of a run', async (t) => {
    const script: Script = (_, report) => {
      report.phase('act')
      for (let i = 1; i <= 12; i++) report.message(`message ${i}`)
      return {
        text: 'the answer',
        details: {tokens: 7},
        usage: {provider: 'local', model: 'm', inputTokens: 3, outputTokens: 4, costUsd: 0.5},
      }
    }
    const {client} = await running(t, script, {env: {SVC_MCP_LLM_COST_EVENTS: '1'}})
    const id = submit(client)
    await until(() => statusOf(client, id) === 'Completed', 'the task is completed')
    const {result, transcript, current_phase, agent_id} = requireTask(client, id)
    assert.deepEqual(result, {text: 'the answer', tokens: 7})
    assert.deepEqual([transcript.length, transcript.at(-1)?.message], [10, 'message 12'])
    assert.equal(current_phase, undefined)
    assert.equal(readEvents(client, {types: ['task_phase_changed']}).length, 1)
    await until(() => readEvents(client, {types: ['cost_incurred']}).length === 1, 'the cost event')
    const agent = reportStatus(client).agents.find((one) => one.id === agent_id)
    assert.deepEqual([agent?.tokens_used, agent?.cost_usd, agent?.activity], [7, 0.5, 'idle'])
  })

  it('adds the description and the answer of a task of a model to its session', async (t) => {
    const {client} = await running(t, () => ({
      text: 'the answer',
      details: {},
      usage: {provider: 'local', model: 'm', inputTokens: 3, outputTokens: 4, costUsd: 0},
    }))
    const sessions = openSessions(client)
    const {id} = sessions.create('core')
    const task = submit(client, {description: 'Answer it', session_id: id})
    const other = submit(client, {session_id: 'a session of a client'})
    await until(() => statusOf(client, other) === 'Completed', 'the tasks are completed')
    assert.equal(statusOf(client, task), 'Completed')
    assert.deepEqual(
      sessions.load(id).turns.map(({role, content, tokens}) => [role, content, tokens]),
      [
        ['user', 'Answer it', 3],
        ['assistant', 'the answer', 4],
      ],
    )
  })

  it('fails a task that runs longer than its time budget', async (t) => {
    const {client} = await running(t, (_, __, signal) => untilAborted(signal))
    const id = submit(client, {retries: 2, enqueue_hints: {budget: {max_latency_ms: 1}}})
    await until(() => statusOf(client, id) === 'Failed', 'the task failed')
    assert.equal(requireTask(client, id).status_reason, 'budget_exceeded')
  })

  it('starts no tasks of a paused agent until it is resumed', async (t) => {
    const {client, processor} = await running(t)
    spawnAgent(client, {name: 'paused'})
    setPaused(client, 'paused', true)
    const waiting = submit(client, {target_agent: 'paused'})
    const other = submit(client, {target_agent: 'other'})
    await until(() => statusOf(client, other) === 'Completed', 'the other task is completed')
    assert.deepEqual(processor.started, [other])
    setPaused(client, 'paused', false)
    await until(() => statusOf(client, waiting) === 'Completed', 'the task is completed')
  })

  for (const [how, leave] of [
    ['cancelled', cancelTask],
    ['doubted', doubtTask],
  ] as const)
    it(`stops the run of a task that is ${how}`, async (t) => {
      let reason: unknown
      const {client, processor} = await running(
        t,
        (_, __, signal) =>
          untilAborted(signal).catch((error: unknown) => {
            reason = error
            throw error
          }),
        {drainMs: 0},
      )
      const id = submit(client)
      const next = submit(client)
      await until(() => processor.started.length === 1, 'the run has begun')
      const {status} = leave(client, id)
      await until(() => processor.started.includes(next), 'the next one is started')
      assert.equal((reason as {ending?: string}).ending, 'claim_lost')
      assert.equal(statusOf(client, id), status)
    })

  it('does not store the result of a cancelled run', async (t) => {
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const {client, processor, daemon} = await running(t, async () => {
      await gate
      return done('too late')
    })
    const id = submit(client)
    await until(() => processor.started.length === 1, 'the run has begun')
    cancelTask(client, id)
    release()
    await daemon.stop()
    const {status, result} = requireTask(client, id)
    assert.deepEqual([status, result], ['Cancelled', undefined])
  })

  it('emits all events without gaps, including those at its end', async (t) => {
    const {orchestrator, client} = await workspace(t)
    spawnAgent(client, {name: 'one'})
    setPaused(client, 'one', true)
    const since = readEvents(client).at(-1)?.id ?? 0
    const emitted: EventRecord[] = []
    const onEvents = (events: readonly EventRecord[]) => void emitted.push(...events)
    const daemon = await startDaemon(t, orchestrator, new ScriptedProcessor(), {onEvents})
    submitBatch(
      client,
      Array.from({length: 1500}, () => ({description: 'work', target_agent: 'one'})),
    )
    await until(() => emitted.length > 0, 'an event')
    await daemon.stop()
    const written = client.store.all<{id: number}>(
      "SELECT id FROM orch_events WHERE id > ? AND type <> 'daemon_started' ORDER BY id",
      [since],
    )
    const ids = emitted.flatMap(({id, kind}) => (kind.type === 'daemon_started' ? [] : [id]))
    assert.equal(ids.length, written.length)
    assert.deepEqual(
      ids,
      written.map(({id}) => id),
    )
  })
})

describe('a failing run', () => {
  it('fails the task with the reason, without a retry, if the work failed', async (t) => {
    const {client, processor} = await running(
      t,
      () => {
        throw new SvcError('task_run_failed', {reason: 'The tests are red.'})
      },
      {toml: '[orchestrator]\nmax_task_retries = 5\n'},
    )
    const id = submit(client)
    await until(() => statusOf(client, id) === 'Failed', 'the task has failed')
    assert.match(requireTask(client, id).status_reason ?? '', /The tests are red/)
    assert.equal(processor.started.length, 1)
  })

  for (const [retries, status] of [
    [0, 'Failed'],
    [1, 'Completed'],
  ] as const)
    it(`leaves the task ${status} after one server failure if max_task_retries is ${retries}`, async (t) => {
      let failures = 0
      const {client, processor} = await running(
        t,
        () => {
          if (failures++ === 0) throw new Error('connect ECONNREFUSED')
          return done()
        },
        {toml: `[orchestrator]\nmax_task_retries = ${retries}\n`},
      )
      const id = submit(client)
      await until(() => statusOf(client, id) === status, `the task is ${status}`)
      const {retry_count} = requireTask(client, id)
      assert.deepEqual([processor.started.length, retry_count], [retries + 1, retries])
      const [requeued] = readEvents(client, {types: ['task_requeued']})
      if (retries === 0) return assert.equal(requeued, undefined)
      const {timestamp_ms, kind} = requeued ?? assert.fail('nothing was queued again')
      const pause = kind.type === 'task_requeued' ? (kind.not_before_ms ?? 0) - timestamp_ms : 0
      assert.ok(pause > 900 && pause <= 1000, `it waits for ${pause} ms`)
    })

  it('is stopped and fails after task_timeout_ms', async (t) => {
    const {client, processor} = await running(t, (task, _, signal) => (task.id === 1 ? untilAborted(signal) : done()), {
      toml: '[orchestrator]\ntask_timeout_ms = 200\n',
    })
    const id = submit(client)
    const next = submit(client)
    await until(() => statusOf(client, next) === 'Completed', 'the next task is completed')
    assert.deepEqual([statusOf(client, id), requireTask(client, id).status_reason], ['Failed', 'timeout'])
    assert.deepEqual(processor.started, [id, next])
  })

  it('does not crash the daemon if its processor throws synchronously', async (t) => {
    const {orchestrator, client} = await workspace(t, '[orchestrator]\ntask_timeout_ms = 5000\n')
    const processor = {
      run: () => {
        throw new SvcError('task_run_failed', {reason: 'No such template.'})
      },
    }
    const daemon = await startDaemon(t, orchestrator, processor)
    const id = submit(client)
    await Promise.race([until(() => statusOf(client, id) === 'Failed', 'the task has failed'), daemon.ended])
    assert.equal(statusOf(client, id), 'Failed')
  })
})

describe('a stopping daemon', () => {
  it('waits for running tasks and starts no others', async (t) => {
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const {client, processor, daemon} = await running(t, async () => {
      await gate
      return done()
    })
    const [first, second] = [submit(client), submit(client)]
    await until(() => processor.started.length === 1, 'the run has begun')
    const ended = daemon.stop()
    release()
    await ended
    assert.deepEqual([statusOf(client, first), statusOf(client, second)], ['Completed', 'Queued'])
    assert.equal(reportStatus(client).daemon, null)
  })

  it('aborts tasks that exceed the drain time and requeues them in place', async (t) => {
    const {client, processor, daemon} = await running(t, (_, __, signal) => untilAborted(signal), {drainMs: 50})
    const [first, second] = [submit(client), submit(client)]
    await until(() => processor.started.length === 1, 'the run has begun')
    await daemon.stop()
    const {status, status_reason, retry_count} = requireTask(client, first)
    assert.deepEqual([status, status_reason, retry_count], ['Queued', 'daemon_stopped', 1])
    const next = new ScriptedProcessor()
    await startDaemon(t, await openTestOrchestrator(t, {root: client.root, clock: 'real'}), next)
    await until(() => reportStatus(client).total_completed === 2, 'both are completed')
    assert.deepEqual(next.started, [first, second])
  })
})

describe('two daemons of one workspace', () => {
  it('exclude each other: the second can start when the first has ended', async (t) => {
    const {client, daemon} = await running(t)
    const other = await openTestOrchestrator(t, {root: client.root, clock: 'real'})
    await assert.rejects(startDaemon(t, other, new ScriptedProcessor()), (error) => {
      assert.ok(isErrorOf(error, 'daemon_running'))
      assert.equal(error.params.pid, process.pid)
      return true
    })
    assert.equal(reportStatus(client).daemon?.pid, process.pid)
    await daemon.stop()
    await (await startDaemon(t, other, new ScriptedProcessor())).stop()
    const events = readEvents(client, {types: ['daemon_started', 'daemon_stopped']})
    assert.deepEqual(
      events.map(({kind}) => [kind.type, 'fence' in kind && kind.fence]),
      [
        ['daemon_started', 1],
        ['daemon_stopped', 1],
        ['daemon_started', 2],
        ['daemon_stopped', 2],
      ],
    )
  })

  it('exclude each other even if several processes start at once', async (t) => {
    const {client} = await workspace(t)
    const program = projectFile('dist/test/orchestrator/support/hold-lease.js')
    const children = [1, 2, 3].map(() =>
      spawn(process.execPath, [program, client.root], {stdio: ['ignore', 'ignore', 'pipe']}),
    )
    t.after(() => {
      for (const child of children) child.kill('SIGKILL')
    })
    const complaints: string[] = []
    for (const child of children) child.stderr?.on('data', (text) => complaints.push(String(text)))
    await until(() => children.filter(({exitCode}) => exitCode === 1).length === 2, 'two give up')
    const [holder] = children.filter(({exitCode}) => exitCode === null)
    assert.equal(reportStatus(client).daemon?.pid, holder?.pid)
    assert.equal(complaints.join('').match(/code: 'daemon_running'/g)?.length, 2)
    assert.equal(readEvents(client, {types: ['daemon_started']}).length, 1)
  })

  it('exclude each other after a takeover: the first stops at once and writes nothing', async (t) => {
    let aborted = false
    const {client, processor, daemon} = await running(
      t,
      (_, __, signal) =>
        untilAborted(signal).catch((error: unknown) => {
          aborted = true
          throw error
        }),
      {drainMs: 3_600_000},
    )
    const id = submit(client)
    await until(() => processor.started.length === 1, 'the run has begun')
    client.store.run("UPDATE orch_leases SET fence = fence + 1, holder = 'another'")
    const last = readEvents(client).at(-1)?.id
    const outcome = await daemon.ended.then(
      () => 'it ended well',
      (error: unknown) => error,
    )
    assert.ok(isErrorOf(outcome, 'daemon_replaced'), String(outcome))
    assert.ok(aborted)
    assert.deepEqual([statusOf(client, id), readEvents(client).at(-1)?.id], ['InProgress', last])
    assert.deepEqual(client.store.all('SELECT holder, fence FROM orch_leases'), [{holder: 'another', fence: 2}])
  })

  it('exclude each other after a takeover at the end of a run, whose result is dropped', async (t) => {
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const {client, processor, daemon} = await running(t, async () => {
      await gate
      return done()
    })
    const id = submit(client)
    await until(() => processor.started.length === 1, 'the run has begun')
    client.store.run('UPDATE orch_leases SET fence = fence + 1')
    release()
    await assert.rejects(daemon.ended, (error) => isErrorOf(error, 'daemon_replaced'))
    assert.deepEqual([statusOf(client, id), requireTask(client, id).result], ['InProgress', undefined])
  })
})
