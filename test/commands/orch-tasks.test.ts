import assert from 'node:assert/strict'
import {PassThrough} from 'node:stream'
import {finished} from 'node:stream/promises'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {SvcError} from '../../src/errors/index.js'
import type {StatusReport} from '../../src/orchestrator/index.js'
import {KeptOutput} from '../../src/process/index.js'
import {type EventRecord, startRemoteRuns, type Task} from '../../src/tasks/index.js'
import {delegating} from '../delegation/claimer/remote-world.js'
import {done, type Script, ScriptedProcessor, startDaemon} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {assertFits, jsonLines, orchWorkspace, until} from '../support/orch-workspace.js'
import {svcBinary} from '../support/svc.js'

describe('svc orch status', {concurrency: 3}, () => {
  it('shows the store, the daemon and the number of tasks by status', async (t) => {
    const {text, submit, status, cwd} = await orchWorkspace(t)
    assert.match(
      await text(['orch', 'status']),
      /^store +.*store\.db\ndaemon +not running; queued tasks wait\ntasks +0 queued/,
    )
    await submit('x', '-f', 'a.ts')
    await submit('y', '--processor', 'external')
    await text(['orch', 'claim'])
    const output = await text(['orch', 'status'])
    assert.match(output, /\ntasks +1 queued, 1 in progress, 0 blocked, 0 doubted, 0 completed, 0 failed, 0 cancelled\n/)
    assert.match(output, /\nAGENT +NAME .*\nA-01 +core +active +1 +1 /)
    const {
      store,
      enabled,
      total_queued: queued,
      total_in_progress: running,
      agents,
      locked_files: locked,
    } = await status()
    assert.deepEqual([store, enabled, queued, running, locked], [`${cwd}/.svc/store.db`, true, 1, 1, 1])
    assert.deepEqual([agents[0]?.queued, agents[0]?.running], [1, 1])
  })

  it('shows that new tasks are refused', async (t) => {
    const {text} = await orchWorkspace(t, '[orchestrator]\nenabled = false\n')
    assert.match(await text(['orch', 'status']), /\nenabled +no: new tasks are refused\n/)
  })

  it('prints each change with --watch, and exits with status 0 when interrupted', async (t) => {
    const {startInTurn, submit} = await orchWorkspace(t)
    const watching = startInTurn(['orch', 'status', '--watch', '--json'])
    const counted = async (line: number) => {
      const report = JSON.parse(await watching.line(line)) as StatusReport
      await assertFits('cli/orch-status.v1', report)
      return report.total_queued
    }
    assert.equal(await counted(1), 0)
    await submit('x')
    assert.equal(await counted(2), 1)
    assert.equal(await watching.end('SIGINT'), 0)
    assert.deepEqual([watching.lines.length, watching.stderr()], [2, ''])
  })
})

describe('svc orch task', {concurrency: 3}, () => {
  /** Creates a workspace whose daemon runs a command that writes a line, waits, writes another line, and exits. */
  async function withCommand(t: TestContext, end: 'completed' | 'failed') {
    const workspace = await orchWorkspace(t)
    const orchestrator = await openTestOrchestrator(t, {root: workspace.cwd, clock: 'real'})
    let goOn = () => {}
    const gate = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const script: Script = async (_, report) => {
      const output = new KeptOutput(1000, {onOutput: report.output})
      const pipe = new PassThrough()
      output.record('stdout', pipe)
      pipe.write('FAIL a.test.js\n')
      await gate
      pipe.end('2 tests')
      await finished(pipe)
      output.end()
      if (end === 'failed') throw new SvcError('task_run_failed', {reason: 'check exited with status 1'})
      return done('2 tests')
    }
    await startDaemon(t, orchestrator, new ScriptedProcessor(script))
    const id = await workspace.submit('x', '--exec', 'say', '--param', 'word=x')
    return {...workspace, id, goOn}
  }

  it('stores the output of a failed command, and prints it with --output and --json', async (t) => {
    const {id, goOn, text, task} = await withCommand(t, 'failed')
    goOn()
    await until(async () => (await task(id)).status === 'Failed', 'it has failed')
    assert.equal(await text(['orch', 'task', id, '--output']), 'FAIL a.test.js\n2 tests')
    assert.match(await text(['orch', 'task', id]), /\nOutput:\nFAIL a\.test\.js\n2 tests\n$/)
    assert.deepEqual((await task(id)).output, {text: 'FAIL a.test.js\n2 tests', bytes: 22, missing_bytes: 0})
  })

  for (const [end, status] of [
    ['completed', 0],
    ['failed', 1],
  ] as const)
    it(`follows the output with --follow, and exits with status ${status} when the task has ${end}`, async (t) => {
      const {id, goOn, startInTurn} = await withCommand(t, end)
      const following = startInTurn(['orch', 'task', id, '--follow'])
      assert.equal(await following.line(1), 'FAIL a.test.js')
      goOn()
      const {exitCode, stdout, stderr} = await following.ended
      assert.deepEqual([exitCode, stdout], [status, 'FAIL a.test.js\n2 tests'])
      assert.equal(/T-0001 failed: .*\(task_not_successful\)/.test(stderr), end === 'failed')
    })

  it('prints a line per piece and then the task with --follow --json', async (t) => {
    const {id, goOn, startInTurn} = await withCommand(t, 'completed')
    const following = startInTurn(['orch', 'task', id, '--follow', '--json'])
    assert.deepEqual(JSON.parse(await following.line(1)), {text: 'FAIL a.test.js\n'})
    goOn()
    const {exitCode} = await following.ended
    assert.equal(exitCode, 0)
    assert.deepEqual(JSON.parse(await following.line(2)), {text: '2 tests'})
    await assertFits('cli/orch-task.v1', JSON.parse(await following.line(3)))
  })
})

describe('svc orch tasks', {concurrency: 3}, () => {
  it('lists tasks newest first, in pages', async (t) => {
    const {submit, tasks, text, fails} = await orchWorkspace(t)
    assert.equal(await text(['orch', 'tasks']), 'No tasks.\n')
    for (const name of ['one', 'two', 'three']) await submit(name)
    const ids = async (...args: string[]) => (await tasks(...args)).map(({id}) => id)
    assert.deepEqual(await ids(), [3, 2, 1])
    assert.deepEqual(await ids('--limit', '2'), [3, 2])
    assert.deepEqual(await ids('--limit', '2', '--before', 'T-0002'), [1])
    const [header = '', first = ''] = (await text(['orch', 'tasks'])).split('\n')
    assert.match(header, /^TASK +STATUS +PRIORITY +AGENT +AGE +DESCRIPTION$/)
    assert.match(first, /^T-0003 +Queued +normal +core +\d+s +three$/)
    const rows = async (...args: string[]) => (await text(['orch', 'tasks', '--limit', '2', ...args])).split('\n')
    assert.match((await rows('-o', 'wide'))[1] ?? '', /^T-0003 .* ai +20\S+Z +- +three$/)
    assert.deepEqual(await rows('-o', 'name'), ['T-0003', 'T-0002', ''])
    assert.deepEqual(await rows('--columns', 'description,task'), [
      'DESCRIPTION  TASK',
      'three        T-0003',
      'two          T-0002',
      '',
    ])
    const args = ['orch', 'tasks', '--limit', '2']
    for (const json of [['-o', 'json'], ['-ojson'], ['--output=json'], ['--output', 'json']])
      assert.equal(await text([...args, ...json]), await text([...args, '--json']))
    await fails(['orch', 'tasks', '--limit', '0'], 2, 'usage')
    await fails(['orch', 'tasks', '--before', 'x'], 2, 'usage')
  })

  it('filters by status, agent and session', async (t) => {
    const {submit, tasks, text, fails} = await orchWorkspace(t)
    await submit('a', '--agent', 'anna', '--session-id', 's1')
    await submit('b', '--agent', 'bert')
    await submit('c', '--agent', 'bert', '--requires-approval')
    await text(['orch', 'cancel', '2'])
    const ids = async (...args: string[]) => (await tasks(...args)).map(({id}) => id)
    assert.deepEqual(await ids('--status', 'queued', '-s', 'BLOCKEDonapproval'), [3, 1])
    assert.deepEqual(await ids('--status', 'Cancelled'), [2])
    assert.deepEqual(await ids('--agent', 'bert'), [3, 2])
    assert.deepEqual(await ids('--session-id', 's1'), [1])
    assert.match(
      await fails(['orch', 'tasks', '-s', 'done'], 2, 'flag_value'),
      /one of Queued, .*RemoteHold, not "done"/,
    )
    await fails(['orch', 'tasks', '--agent', 'carl'], 3, 'agent_not_found')
  })

  it('lists only the tasks that other nodes run with --remote', async (t) => {
    const {cwd, submit, tasks, text, fails} = await orchWorkspace(t, delegating('http://127.0.0.1:9'))
    await submit('far', '--role', 'builder', '--agent', 'anna')
    await submit('near', '--agent', 'anna', '--processor', 'external')
    await submit('further', '--role', 'builder', '--agent', 'bert')
    await text(['orch', 'claim'])
    assert.equal(await text(['orch', 'tasks', '--remote']), 'No tasks.\n')
    const orchestrator = await openTestOrchestrator(t, {root: cwd})
    const delegateOf = ({id}: {id: number}) => ({idempotency_key: `key-${id}`, claimer_node_id: 'orch'})
    orchestrator.store.transaction(() => startRemoteRuns(orchestrator, {owner: 'mesh:1', limit: 8, delegateOf}))
    const held = async (...args: string[]) =>
      (await tasks('--remote', ...args)).map(({id, status}) => [id, status]) as [number, string][]
    assert.deepEqual(await held(), [
      [3, 'RemoteHold'],
      [1, 'RemoteHold'],
    ])
    assert.deepEqual(await held('--agent', 'anna'), [[1, 'RemoteHold']])
    await text(['orch', 'cancel', '1'])
    assert.deepEqual(await held(), [[3, 'RemoteHold']])
    await fails(['orch', 'tasks', '--remote', '--status', 'queued'], 2, 'usage')
  })

  it('prints each change with --watch', async (t) => {
    const {startInTurn, submit, text} = await orchWorkspace(t)
    await submit('x')
    const watching = startInTurn(['orch', 'tasks', '--watch', '--json'])
    await watching.line(1)
    await text(['orch', 'cancel', '1'])
    const {tasks} = JSON.parse(await watching.line(2)) as {tasks: Task[]}
    assert.deepEqual(
      tasks.map(({status}) => status),
      ['Cancelled'],
    )
    assert.equal(await watching.end('SIGTERM'), 0)
  })
})

describe('svc orch task', {concurrency: 3}, () => {
  it('shows facts, description and result', async (t) => {
    const {submit, text} = await orchWorkspace(t)
    const id = await submit('Say it\nloudly', '--exec', 'say', '--param', 'word=x', '-f', 'a.ts', '--needs-gpu')
    for (const reference of [id, '1', 't-0001']) {
      const output = await text(['orch', 'task', reference])
      assert.match(output, /^task +T-0001 \([0-9a-f-]{36}\)\nstatus +Queued\nagent +core\npriority +normal\n/)
      assert.match(output, /\nprocessor +exec say\nfiles +a\.ts:write\ntests +recommended: .+\nneeds +gpu_cuda\n/)
      assert.match(output, /\n\nSay it\nloudly\n$/)
    }
  })

  it('removes control characters from descriptions', async (t) => {
    const {submit, text} = await orchWorkspace(t)
    await submit('red \u001b[31malert\u0007')
    for (const args of [
      ['orch', 'task', '1'],
      ['orch', 'tasks'],
      ['orch', 'events'],
    ])
      assert.doesNotMatch((await text(args)).replaceAll('\n', ''), /\p{Cc}/u)
  })

  it('reports an unknown task', async (t) => {
    const {fails} = await orchWorkspace(t)
    await fails(['orch', 'task', '7'], 3, 'task_not_found')
    await fails(['orch', 'task', 'seven'], 2, 'usage')
    await fails(['orch', 'task'], 2, 'usage')
  })
})

describe('svc orch events', {concurrency: 3}, () => {
  it('prints events in order', async (t) => {
    const {submit, text, events, fails} = await orchWorkspace(t)
    await submit('first', '--trace-id', 'tr1')
    await submit('second')
    await text(['orch', 'cancel', '1', '-r', 'late'])
    const types = (found: EventRecord[]) => found.map(({kind}) => kind.type)
    const all = await events()
    assert.deepEqual(
      all.map(({id}) => id),
      all.map((_, i) => i + 1),
    )
    assert.deepEqual(
      types(all).filter((type) => type.startsWith('task')),
      ['task_submitted', 'task_placed', 'task_submitted', 'task_placed', 'task_cancelled'],
    )
    const [cancelled] = await events('--type', 'task_cancelled')
    assert.deepEqual(cancelled?.kind, {type: 'task_cancelled', task_id: 1, agent_id: 1, reason: 'late'})
    assert.deepEqual(cancelled?.correlation, {trace_id: 'tr1'})
    assert.deepEqual(types(await events('--task', 'T-0002', '-t', 'task_placed', '-t', 'task_submitted')), [
      'task_submitted',
      'task_placed',
    ])
    assert.deepEqual(await events('--since', '2', '--limit', '2'), all.slice(2, 4))
    assert.match(
      await text(['orch', 'events', '--type', 'task_cancelled']),
      /^ +\d+ {2}\S+Z {2}task_cancelled +T-0001 cancelled: late\n$/,
    )
    await fails(['orch', 'events', '--type', 'task_vanished'], 2, 'usage')
    await fails(['orch', 'events', '--task', '9'], 3, 'task_not_found')
    await fails(['orch', 'events', '--since', '-1'], 2, 'usage')
  })

  it('follows events of other processes, and resumes after an id', async (t) => {
    const {submit, startInTurn, text} = await orchWorkspace(t)
    await submit('x')
    const following = startInTurn([
      'orch',
      'events',
      '--follow',
      '--json',
      '--type',
      'task_cancelled',
      '-t',
      'task_doubted',
    ])
    const behind = startInTurn(['orch', 'events', '--follow', '--since', '1'])
    assert.match(await behind.line(1), /task_submitted +T-0001 submitted to A-01, Queued: x$/)
    // It prints only events after its start, and nothing that shows that it has started.
    await until(async () => {
      await text(['orch', 'doubt', await submit('y'), '-r', 'why'])
      return following.lines.length > 0
    }, 'the first event')
    await text(['orch', 'doubt', '1', '-r', 'why'])
    const events = () => following.lines.map((line) => JSON.parse(line) as EventRecord)
    const ofTheFirst = () => events().find(({kind}) => kind.type === 'task_doubted' && kind.task_id === 1)
    await until(() => ofTheFirst() !== undefined, 'that T-0001 is doubted')
    const event = ofTheFirst() as EventRecord
    for (const each of events()) {
      await assertFits('orchestration/event.v1', each)
      assert.equal(each.kind.type, 'task_doubted')
    }
    await until(
      () => behind.lines.some((line) => line.endsWith('T-0001 doubted by A-01: why')),
      behind.lines.join('\n'),
    )
    assert.equal(await behind.end('SIGINT'), 0)

    assert.equal(await following.end('SIGTERM'), 0)
    await text(['orch', 'cancel', '1'])
    const resumed = startInTurn([
      'orch',
      'events',
      '-f',
      '--json',
      '--limit',
      '1',
      '--since',
      String(event.id),
      '--task',
      '1',
    ])
    assert.equal(await resumed.end(), 0)
    assert.deepEqual(
      resumed.lines.map((line) => (JSON.parse(line) as EventRecord).kind.type),
      ['task_cancelled'],
    )
    assert.deepEqual([following.stderr(), behind.stderr()], ['', ''])
  })

  it('exits silently when standard output is closed', async (t) => {
    const {submit, cwd} = await orchWorkspace(t)
    await submit('x')
    const command = `"${process.execPath}" "${svcBinary}" orch events --follow --since 0 --json | head -n 1; echo "$\{PIPESTATUS[0]}"`
    const piped = execa('bash', ['-c', command], {cwd, timeout: 300_000, reject: false})
    // A writer notices the closed pipe at its next write.
    let isOver = false
    const ended = piped.finally(() => {
      isOver = true
    })
    while (!isOver) await submit('more')
    const {stdout, stderr} = await ended
    const [first = '', status] = stdout.split('\n')
    assert.equal(jsonLines<EventRecord>(first)[0]?.id, 1)
    assert.deepEqual([status, stderr], ['0', ''])
  })
})
