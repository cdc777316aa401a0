import assert from 'node:assert/strict'
import {readFile, rename, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import type {DaemonReadyV1} from '../../src/contracts/index.js'
import {openStore} from '../../src/store/index.js'
import type {EventRecord, Task} from '../../src/tasks/index.js'
import {assertFits, jsonLines, type OrchWorkspace, orchWorkspace, templates, until} from '../support/orch-workspace.js'
import {answerLines, scriptedInference} from '../support/scripted-inference.js'
import {writeFiles} from '../support/temporary.js'

/** Starts a daemon. Returns it with its ready event. */
async function daemon(
  start: OrchWorkspace['start'] | OrchWorkspace['startInTurn'],
  args: readonly string[] = [],
  env: Record<string, string> = {},
) {
  const running = start(['daemon', 'run', '--json', ...args], {env})
  const ready = JSON.parse(await running.line(1)) as DaemonReadyV1
  await assertFits('cli/daemon-ready.v1', ready)
  return {...running, ready}
}

const waited = ['--wait', '--timeout', '300']
const nap = (seconds: number) => ['a nap', '--exec', 'nap', '--param', `seconds=${seconds}`]

describe('svc daemon run', {concurrency: 3}, () => {
  it('runs command templates and prints each event as a line', async (t) => {
    const workspace = await orchWorkspace(t)
    const {json, run, status, cwd} = workspace
    const running = await daemon(workspace.startInTurn)
    assert.deepEqual([running.ready.fence, running.ready.recovered], [1, 0])
    assert.equal(running.ready.store, join(cwd, '.svc/store.db'))
    assert.equal((await status()).daemon?.pid, running.ready.pid)

    const submission = ['orch', 'submit', 'say it', '--exec', 'say', '--param', 'word=hello', ...waited]
    const task = await json<Task>('cli/orch-task.v1', submission)
    assert.deepEqual([task.status, task.result?.text, task.result?.exit_code], ['Completed', 'hello', 0])
    const {stdout, stderr, exitCode} = await run(['orch', 'submit', 'break', '--exec', 'break', ...waited])
    assert.equal(exitCode, 1)
    assert.match(stdout, /\nstatus +Failed\nreason +.*break exited with status 1/)
    assert.match(stderr, /T-0002 failed: .*break exited with status 1\. \(task_not_successful\)/)
    assert.doesNotMatch(stderr, /no daemon/)

    assert.equal(await running.end('SIGTERM'), 0)
    assert.equal((await status()).daemon, null)
    const events = jsonLines<EventRecord>(running.lines.slice(1).join('\n'))
    for (const event of events) await assertFits('orchestration/event.v1', event)
    const types = events.map(({kind}) => kind.type)
    for (const type of ['task_submitted', 'task_started', 'task_completed', 'task_failed'] as const)
      assert.ok(types.includes(type), type)
    assert.equal(types.at(-1), 'daemon_stopped')
  })

  it('uses the inference server of the environment', async (t) => {
    const {baseUrl, calls} = await scriptedInference(t, (response, {prompt}) =>
      response.end(answerLines(`answer to ${String(prompt).length} characters`)),
    )
    const workspace = await orchWorkspace(t)
    await daemon(workspace.startInTurn, [], {SVC_INFERENCE_URL: baseUrl, SVC_MCP_LLM_COST_EVENTS: '1'})
    const task = await workspace.json<Task>('cli/orch-task.v1', ['orch', 'submit', 'think', ...waited])
    assert.equal(task.status, 'Completed')
    assert.match(task.result?.text ?? '', /^answer to \d+ characters$/)
    assert.equal(calls.length, 6)
    assert.equal((await workspace.events('--type', 'cost_incurred')).length, 1)
    const store = await openStore(join(workspace.cwd, '.svc', 'store.db'), [])
    t.after(() => store.close())
    const sql = 'SELECT trace_id, success, task_category, count(*) AS count FROM llm_interactions GROUP BY 1, 2, 3'
    const accounts = [{trace_id: task.trace_id, success: 1, task_category: task.category, count: 6}]
    assert.deepEqual(store.all(sql), accounts)
  })

  it('emits no cost events by default, but accounts for the calls', async (t) => {
    const {baseUrl} = await scriptedInference(t, (response) => response.end(answerLines('an answer')))
    const workspace = await orchWorkspace(t)
    await daemon(workspace.startInTurn, [], {SVC_INFERENCE_URL: baseUrl})
    await workspace.json<Task>('cli/orch-task.v1', ['orch', 'submit', 'think', ...waited])
    assert.deepEqual(await workspace.events('--type', 'cost_incurred'), [])
    const store = await openStore(join(workspace.cwd, '.svc', 'store.db'), [])
    t.after(() => store.close())
    assert.deepEqual(store.all('SELECT count(*) AS count FROM llm_interactions'), [{count: 6}])
  })

  it('answers requests on a free port of the loopback interface', async (t) => {
    const workspace = await orchWorkspace(t)
    const {ready} = await daemon(workspace.startInTurn)
    assert.match(ready.addr ?? '', /^127\.0\.0\.1:\d+$/)
    assert.ok(JSON.parse(await workspace.text(['daemon', 'call', 'orch.ping'])).protocol)
  })

  it('refuses to start twice in a workspace', async (t) => {
    const workspace = await orchWorkspace(t)
    await daemon(workspace.startInTurn)
    assert.match(await workspace.fails(['daemon', 'run'], 4, 'daemon_running'), /pid \d+ on/)
  })

  it('prints the progress of tasks, or nothing with --quiet', async (t) => {
    const {startInTurn, submit} = await orchWorkspace(t)
    const say = ['say it', '--exec', 'say', '--param', 'word=x', '--wait']
    const talking = startInTurn(['daemon', 'run'])
    await talking.says(/^Listening on 127\.0\.0\.1:\d+\.\nRunning the tasks of /)
    await submit(...say)
    await talking.says(/T-0001 completed by A-01\n/)
    assert.match(talking.stderr(), /T-0001 submitted to A-01, Queued: say it\nT-0001 started on A-01 by \S+, claim 1\n/)
    assert.equal(await talking.end('SIGINT'), 0)
    assert.deepEqual(talking.lines, [])

    const silent = startInTurn(['daemon', 'run', '--quiet'])
    await submit(...say)
    assert.equal(await silent.end('SIGTERM'), 0)
    assert.deepEqual([silent.lines, silent.stderr()], [[], ''])
  })

  it('lets running tasks finish when it is stopped', async (t) => {
    const workspace = await orchWorkspace(t)
    const running = await daemon(workspace.start)
    const id = await workspace.submit(...nap(3))
    await until(async () => (await workspace.task(id)).status !== 'Queued', 'the start')
    assert.equal(await running.end('SIGTERM'), 0)
    assert.equal((await workspace.task(id)).status, 'Completed')
  })

  it('requeues tasks that do not finish in time', async (t) => {
    const workspace = await orchWorkspace(t)
    const running = await daemon(workspace.startInTurn, ['--drain', '0'])
    const id = await workspace.submit(...nap(30))
    await until(async () => (await workspace.task(id)).status !== 'Queued', 'the start')
    assert.equal(await running.end('SIGINT'), 0)
    const {status, status_reason: reason} = await workspace.task(id)
    assert.deepEqual([status, reason], ['Queued', 'daemon_stopped'])
  })

  it('requeues the tasks of a killed daemon', async (t) => {
    const workspace = await orchWorkspace(t)
    const killed = await daemon(workspace.startInTurn)
    const id = await workspace.submit(...nap(2))
    await until(async () => (await workspace.task(id)).status !== 'Queued', 'the start')
    await killed.end('SIGKILL')
    const next = await daemon(workspace.startInTurn)
    assert.deepEqual([next.ready.fence, next.ready.recovered], [2, 1])
    await until(async () => (await workspace.task(id)).status === 'Completed', 'the end')
    assert.equal((await workspace.task(id)).retry_count, 1)
  })

  it('writes an event log that only its owner can read', async (t) => {
    const workspace = await orchWorkspace(t, `[orchestrator]\nevent_log = "logs/events.jsonl"\n${templates}`)
    const path = join(workspace.cwd, 'logs/events.jsonl')
    for (const word of ['a', 'b']) {
      const running = await daemon(workspace.startInTurn)
      await workspace.submit('say it', '--exec', 'say', '--param', `word=${word}`, '--wait')
      await running.end('SIGTERM')
    }
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    const logged = jsonLines<EventRecord>(await readFile(path, 'utf8'))
    for (const event of logged) await assertFits('orchestration/event.v1', event)
    const ended = logged.filter(({kind}) => kind.type === 'task_completed' || kind.type === 'daemon_stopped')
    assert.deepEqual(
      ended.map(({kind}) => kind.type),
      ['task_completed', 'daemon_stopped', 'task_completed', 'daemon_stopped'],
    )
  })

  it('reopens the event log and reads the settings again on SIGHUP, if it has no terminal', async (t) => {
    const toml = (level: string) => `[orchestrator]\nevent_log = "events.jsonl"\nlog_level = "${level}"\n${templates}`
    const {cwd, start, submit} = await orchWorkspace(t, toml('info'))
    const running = await daemon(start)
    const reloaded = async () => {
      const before = running.lines.length
      running.signal('SIGHUP')
      for (let i = before + 1; ; i++) {
        const {kind} = JSON.parse(await running.line(i)) as EventRecord
        if (kind.type === 'config_reloaded') return kind.changed
      }
    }
    await submit('say it', '--exec', 'say', '--param', 'word=a', '--wait')
    await rename(join(cwd, 'events.jsonl'), join(cwd, 'old.jsonl'))
    await writeFiles(cwd, {'Svc.toml': toml('debug')})
    assert.deepEqual(await reloaded(), ['orchestrator.log_level'])
    const [first] = jsonLines<EventRecord>(await readFile(join(cwd, 'events.jsonl'), 'utf8'))
    assert.equal(first?.kind.type, 'config_reloaded')
    await writeFiles(cwd, {'Svc.toml': 'orchestrator = 1'})
    running.signal('SIGHUP')
    await running.says(/The settings are unchanged: /)
    assert.equal(await running.end('SIGTERM'), 0)
  })

  it('does not start if it cannot write the event log, or if the configuration is incomplete', async (t) => {
    const {fails, status} = await orchWorkspace(t)
    const env = {SVC_ORCHESTRATOR_EVENT_LOG: '.'}
    await fails(['daemon', 'run'], 1, 'file_unwritable', {env})
    await fails(['daemon', 'run', '--drain', '-1'], 2, 'usage')
    await fails(['daemon', 'run'], 2, 'orchestrator_config_invalid', {env: {SVC_ORCHESTRATOR_MIN_AGENTS: '200'}})
    assert.equal((await status()).daemon, null)
  })
})
