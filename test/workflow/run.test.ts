import assert from 'node:assert/strict'
import {existsSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {hostname} from 'node:os'
import {dirname, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {formatRun} from '../../src/cli/workflow-text.js'
import {assertContract, readRetentionPolicy, type WorkflowJournalEntry} from '../../src/contracts/index.js'
import {isErrorOf, SvcError} from '../../src/errors/index.js'
import {createMeshClient} from '../../src/mesh/index.js'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import {fragment, openStore, pruneTables, repositoryId} from '../../src/store/index.js'
import {cancelTask, doubtTask, listTasks, readEvents, renewClaim, takeClaim} from '../../src/tasks/index.js'
import {listMetrics} from '../../src/telemetry/index.js'
import {isInternal} from '../../src/workflow/activities/http.js'
import {cancelRun, replayRun, startRun, startWorkflowRunner} from '../../src/workflow/engine/index.js'
import {
  hasEndedForGood,
  listRuns,
  type ProgramLine,
  pruneRuns,
  requireRun,
  runReport,
  sendSignal,
  workflowFragment,
} from '../../src/workflow/index.js'
import {notify} from '../../src/workspace/index.js'
import {startPlane} from '../mesh/control-plane/support/control-plane.js'
import {refused} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask} from '../orchestrator/support/tasks.js'
import {temporaryFolder} from '../support/temporary.js'
import {unclear} from '../support/unclear.js'
import {until} from '../support/until.js'
import {eventsOf, openFlows, outputOf, plainPorts, workflow} from './support.js'

const external = '[orchestrator]\ndefault_processor = "external"\n'

describe('a workflow run', () => {
  it('passes results to later steps and has an output', async (test) => {
    const {run} = await openFlows(test)
    const row = await run(
      `
input: {name: {default: ada}, times: {type: integer, default: 2}}
steps:
  - {id: hello, exec: [sh, -c, 'echo "$GREETING $0"', "\${{ input.name }}"], env: {GREETING: hello}}
  - {id: data, exec: [echo, '{"n": 20}'], json: true}
  - {id: sum, value: "\${{ steps.data.json.n + input.times }}"}
output: {text: "\${{ steps.hello.stdout.trim() }}!", sum: "\${{ steps.sum }}"}`,
      {input: {times: 22}},
    )
    assert.equal(row.status, 'completed')
    assert.deepEqual(outputOf(row), {text: 'hello ada!', sum: 42})
  })

  it('runs scripts and programs in a directory of the workspace, with numbers in their environment', async (test) => {
    const {run, file} = await openFlows(test)
    await mkdir(file('sub'))
    const row = await run(`
steps:
  - {id: script, shell: bash, cwd: sub, env: {N: 3, YES: true}, exec: 'basename "$PWD" | cat; echo "$N $YES"'}
  - {id: program, cwd: ./sub/.., exec: [sh, -c, 'basename "$PWD"']}
  - {id: stops, shell: true, exec: 'false; echo on', continue_on_error: true}
  - {id: outside, cwd: .., exec: ['true'], continue_on_error: true}
output: ["\${{ steps.script.stdout }}", "\${{ steps.stops.exit_code }}", "\${{ steps.outside.error }}"]`)
    const [script, status, outside] = outputOf(row) as [string, number, string]
    assert.deepEqual([script, status], ['sub\n3 true\n', 1])
    assert.match(outside, /outside the workspace/)
  })

  it('writes a journal whose entries match their contract', async (test) => {
    const {run, entries, context} = await openFlows(test)
    const {run_id} = await run(`
steps:
  - {id: a, exec: ['false'], retries: 1, initial_backoff: 1ms, continue_on_error: true}
  - {id: verify_b, value: 2}
  - {id: wait, timer: 1ms}
  - {if: "true", then: [{id: p, patch: {change: c1, max: 3}}]}
  - {id: skipped, if: "false", value: 1}
  - {mesh_join: }`)
    assert.deepEqual(eventsOf(entries, 'a'), [
      'ActivityTask',
      'ActivityStarted',
      'ActivityAttemptFailed',
      'ActivityRetryScheduled',
      'ActivityAttemptFailed',
      'LocalActivity',
      'ActivityCompleted',
    ])
    assert.deepEqual(eventsOf(entries).slice(8), [
      ...['ActivityTask', 'ActivityStarted', 'LocalActivity', 'ActivityCompleted'],
      ...['ActivityTask', 'ActivityStarted', 'TimerWaitCompleted', 'ActivityCompleted'],
      'BranchDecision',
      ...['ActivityTask', 'ActivityStarted', 'WorkflowPatch', 'ActivityCompleted'],
      'ActivitySkipped',
      ...['ActivityTask', 'ActivityStarted', 'MeshActivitySkipped', 'ActivityCompleted'],
      'WorkflowCompleted',
    ])
    for (const entry of entries) await assertContract('workflow/workflow-journal.v1', entry, entry.event)
    assert.equal(
      entries.find(({event, activity}) => event === 'LocalActivity' && activity === 'verify_b')?.classification,
      'verification',
    )
    const rows = listMetrics(context.store, {type: 'workflow_journal_entry', limit: 100}).reverse()
    assert.equal(rows[0]?.session_id, `workflow:${context.repositoryId}`)
    assert.deepEqual(
      rows.map(({metadata_json: json}) => JSON.parse(json ?? '')),
      entries.map((entry) => ({
        workflow: 'flow',
        run_id,
        ...(entry.activity_id === undefined ? {} : {activity_id: entry.activity_id}),
        entry,
      })),
    )
    const events = readEvents(context, {types: ['workflow_started', 'workflow_completed', 'activity_retried']})
    assert.deepEqual(
      events.map(({kind}) => kind.type),
      ['workflow_started', 'activity_retried', 'workflow_completed'],
    )
  })

  for (const value of ['1', 'true'])
    it(`writes no journal rows if SVC_WORKFLOW_JOURNAL_CODEX_OFF is ${value}`, async (test) => {
      const {run, entries, context} = await openFlows(test, {env: {SVC_WORKFLOW_JOURNAL_CODEX_OFF: value}})
      await run('steps: [{value: 1}]')
      assert.equal(entries.length, 6)
      assert.deepEqual(listMetrics(context.store, {type: 'workflow_journal_entry'}), [])
    })

  it('repeats a failed attempt with a doubled delay, and fails after the last', async (test) => {
    const {run, entries} = await openFlows(test)
    const row = await run(`steps: [{id: a, exec: [sh, -c, 'echo no >&2; exit 3'], retries: 2, initial_backoff: 1}]`)
    assert.equal(row.status, 'failed')
    assert.equal(row.last_error, 'a failed: sh exited with status 3: no.')
    const delays = entries.flatMap(({delay_ms}) => delay_ms ?? [])
    assert.deepEqual(delays, [1, 2])
    assert.equal(entries.at(-1)?.event, 'WorkflowFailed')
  })

  it('ends an attempt at its timeout', async (test) => {
    const {run} = await openFlows(test)
    const row = await run(`steps: [{id: a, exec: [sleep, '600'], timeout: 20ms}, {value: 1}]`)
    assert.match(row.last_error ?? '', /did not end within 20 ms/)
  })

  it('can have a timeout that is longer than a timer of Node.js', async (test) => {
    const {run} = await openFlows(test)
    assert.equal((await run('steps: [{exec: [sleep, "0.05"], timeout: 30d}]')).status, 'completed')
  })

  it('runs branches at the same time, and ends them if one fails', async (test) => {
    const {run} = await openFlows(test)
    const both = await run(`
steps:
  - id: both
    parallel:
      a: [{id: x, value: 1}, {id: y, value: "\${{ steps.x + 1 }}"}]
      b: [{id: z, value: 3}]
output: "\${{ [steps.both.a, steps.both.b, steps.y] }}"`)
    assert.deepEqual(outputOf(both), [2, 3, 2])
    const failed = await run(`
steps:
  - parallel:
      slow: [{id: slow, exec: [sleep, '600']}]
      bad: [{id: bad, exec: ['false']}]`)
    assert.match(failed.last_error ?? '', /^bad failed/)
  })

  it('runs the items of a list, at most so many at the same time', async (test) => {
    const {run, file} = await openFlows(test)
    const row = await run(
      `
input: {list: {type: array}}
steps:
  - id: each
    for_each: "\${{ input.list }}"
    as: word
    concurrency: 2
    steps:
      - {id: one, exec: [sh, -c, 'echo + >> "$0"; sleep 0.02; echo - >> "$0"; echo "$1"', '${file('log')}', "\${{ word }}\${{ index }}"]}
      - {value: "\${{ steps.one.stdout.trim() }}"}
output: "\${{ steps.each }}"`,
      {input: {list: ['a', 'b', 'c', 'd']}},
    )
    assert.deepEqual(outputOf(row), ['a0', 'b1', 'c2', 'd3'])
    let open = 0
    const depths = (await readFile(file('log'), 'utf8')).split('\n').map((mark) => {
      open += mark === '+' ? 1 : mark === '-' ? -1 : 0
      return open
    })
    assert.ok(Math.max(...depths) <= 2)
  })

  it('undoes completed steps, the latest first, when it fails', async (test) => {
    const {run, file, context, entries} = await openFlows(test)
    const note = (text: string) => `exec: [sh, -c, 'echo "$0" >> "${file('log')}"', ${text}]`
    const row = await run(`
steps:
  - {id: a, value: 7, compensate: {${note('"undo a ${{ steps.a }}"')}}}
  - for_each: [1, 2]
    steps: [{id: b, value: "\${{ item * 10 }}", compensate: {id: undo_b, ${note('"undo b ${{ steps.b }}"')}}}]
  - {id: c, if: "false", value: 1, compensate: {${note('undo c')}}}
  - {id: d, exec: ['false'], compensate: {${note('undo d')}}}`)
    assert.equal(row.status, 'failed')
    assert.equal(await readFile(file('log'), 'utf8'), 'undo b 20\nundo b 10\nundo a 7\n')
    assert.deepEqual(eventsOf(entries, 'undo_b').filter((event) => event === 'ActivityCompleted').length, 2)
    refused('workflow_finished', () => sendSignal(context, {run: row.run_id, key: 'x'}))
  })

  it('undoes a step by its outcome, whatever its result looks like', async (test) => {
    const {run, file} = await openFlows(test)
    const undo = (name: string) => `compensate: {exec: [touch, '${file(name)}']}`
    await run(`
steps:
  - {id: data, value: {error: boom}, ${undo('data')}}
  - {id: bad, exec: ['false'], continue_on_error: true, ${undo('bad')}}
  - {exec: ['false']}`)
    assert.deepEqual([existsSync(file('data')), existsSync(file('bad'))], [true, false])
  })

  it('keeps the output of a failed program', async (test) => {
    const {run, context} = await openFlows(test)
    const {run_id} = await run(`steps: [{id: a, exec: [sh, -c, 'echo TS2322; echo no >&2; exit 2']}]`)
    const report = runReport(context, run_id)
    assert.deepEqual(report.activities[0]?.output, {exit_code: 2, stdout: 'TS2322\n', stderr: 'no\n'})
    assert.match(formatRun(report), /Output of a:\nTS2322\nno\n/)
    const tolerated = await run(
      `steps: [{id: a, exec: [sh, -c, 'echo out; exit 3'], continue_on_error: true}]\noutput: "\${{ [steps.a.exit_code, steps.a.stdout] }}"`,
    )
    assert.deepEqual(outputOf(tolerated), [3, 'out\n'])
    const late = await run(`steps: [{exec: [sh, -c, 'echo begun; sleep 600'], timeout: 500ms}]`)
    assert.equal(runReport(context, late.run_id).activities[0]?.output?.stdout, 'begun\n')
  })

  it('parses a long output, or names the limit, and marks one that is cut', async (test) => {
    const {run} = await openFlows(test)
    const print = (count: number, more = '') =>
      `steps: [{id: a, exec: [node, -e, 'console.log(JSON.stringify([...Array(${count}).keys()]))']${more}}]`
    const parsed = await run(`${print(60_000, ', json: true')}\noutput: "\${{ steps.a.json.len() }}"`)
    assert.deepEqual([parsed.last_error, outputOf(parsed)], [null, 60_000])
    assert.match((await run(print(300_000, ', json: true'))).last_error ?? '', /larger than 1048576 bytes/)
  })

  it('writes an output that is cut to private files, which a later attempt replaces and pruning deletes', async (test) => {
    const {run, context} = await openFlows(test, {toml: '[orchestrator]\nworkflow_output_max_bytes = 600_000'})
    const print = (count: number, end: string) =>
      `exec: [node, -e, 'console.error("e"); console.log(JSON.stringify([...Array(${count}).keys()]));${end}']`
    const whole = (count: number) => `${JSON.stringify([...Array(count).keys()])}\n`
    type Cut = {stdout: string; truncated?: boolean; files?: {stdout: string; stderr: string; truncated?: boolean}}
    const {stdout, truncated, files} = outputOf(await run(`steps: [{${print(60_000, '')}}]`)) as Cut
    assert.match(stdout, /^\[0,1,[\s\S]*bytes are missing here[\s\S]*59999\]\n$/)
    assert.equal(truncated, true)
    assert.deepEqual(Object.keys(files ?? {}).sort(), ['stderr', 'stdout'])
    const [path, stderr] = [files?.stdout ?? '', files?.stderr ?? '']
    assert.equal(readFileSync(path, 'utf8'), whole(60_000))
    assert.equal(readFileSync(stderr, 'utf8'), 'e\n')
    assert.deepEqual([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777], [0o600, 0o700])

    // The first attempt fails with more output than the result keeps but less than is kept while it runs.
    const failed = await run(`steps: [{id: a, retries: 1, ${print(20_000, ' process.exit(3)')}}]`)
    const output = runReport(context, failed.run_id).activities[0]?.output
    assert.equal(readFileSync(output?.files?.stdout ?? '', 'utf8'), whole(20_000))
    assert.match(formatRun(runReport(context, failed.run_id)), /\nAll of it is in \S+\.stdout and \S+\.stderr\.\n/)
    assert.equal(readdirSync(dirname(output?.files?.stdout ?? '')).length, 2)

    // The output is no JSON: its end is cut off.
    const invalid = await run(
      `steps: [{json: true, ${print(60_000, '').replace('console.log(', 'console.log("{" + ')}}]`,
    )
    const reported = runReport(context, invalid.run_id).activities[0]?.output
    assert.deepEqual([reported?.exit_code, reported?.truncated], [0, true])
    assert.equal(readFileSync(reported?.files?.stdout ?? '', 'utf8'), `{${whole(60_000)}`)

    const long = (outputOf(await run(`steps: [{${print(120_000, '')}}]`)) as Cut).files
    // Standard error has two bytes.
    const missing = 600_000 - statSync(long?.stdout ?? '').size
    assert.ok(long?.truncated === true && missing >= 0 && missing <= 2, `${missing}`)

    // What a killed process leaves belongs to its run; the folder of a deleted run is found by its name.
    writeFileSync(join(dirname(path), 'left'), '')
    const folders = () => readdirSync(dirname(dirname(path))).length
    assert.equal(folders(), 4)
    // A deletion that fails leaves the runs, so it leaves their files, too.
    context.store.run(`CREATE TRIGGER refuse BEFORE INSERT ON orch_events WHEN NEW.type = 'workflow_runs_pruned'
  BEGIN SELECT RAISE(ABORT, 'refused'); END`)
    assert.throws(() => pruneRuns(context, {olderThanMs: 0}), /refused/)
    assert.ok(existsSync(path))
    context.store.run('DROP TRIGGER refuse')
    pruneRuns(context, {olderThanMs: 0})
    assert.deepEqual([folders(), existsSync(path)], [2, false])
    context.store.run('DELETE FROM workflow_activity_attempt_log')
    context.store.run('DELETE FROM workflow_activity_log')
    context.store.run('DELETE FROM workflow_run_log')
    await startWorkflowRunner(context, {ports: plainPorts}).stop()
    assert.equal(folders(), 0)
  })

  it('passes on each line of a program as it appears', async (test) => {
    const {run, file} = await openFlows(test)
    const lines: string[] = []
    const onLine = ({activity, source, text}: ProgramLine) => {
      lines.push(`${activity} ${source} ${text}`)
      // The program waits for this file: its line is passed on while it runs.
      if (text === 'begun') writeFileSync(file('go'), '')
    }
    const script = 'echo begun; until [ -e go ]; do sleep 0.01; done; printf "10%%\\r20%%\\r\\nlast" >&2'
    const {status} = await run(`steps: [{id: a, exec: [sh, -c, '${script}']}]`, {ports: {...plainPorts, onLine}})
    assert.equal(status, 'completed')
    assert.deepEqual(lines, ['a stdout begun', 'a stderr 10%', 'a stderr 20%', 'a stderr last'])
  })

  it('takes its input only as declared', async (test) => {
    const {run} = await openFlows(test)
    const yaml = 'input: {n: {type: integer}, s: {default: x}}\nsteps: [{value: 1}]'
    for (const input of [{}, {n: 'x'}, {n: 1, other: 2}])
      await assert.rejects(
        async () => run(yaml, {input}),
        (error) => isErrorOf(error, 'workflow_input_invalid'),
      )
  })
})

describe('a run that waits', () => {
  it('continues after a signal, with its payload', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const {run_id, status, wake_at_ms} = await run('steps: [{id: s, signal: go}]\noutput: "${{ steps.s.n }}"')
    assert.deepEqual([status, wake_at_ms], ['waiting', null])
    assert.equal(runReport(context, run_id).activities[0]?.signal_key, 'go')
    refused('workflow_signal_unknown', () => sendSignal(context, {run: run_id, key: 'other', payload: 1}))
    sendSignal(context, {run: run_id, key: 'go', payload: {n: 5}})
    assert.equal(outputOf(await resume(run_id)), 5)
  })

  it('takes each key that an expression of a step can have', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const {run_id} = await run('input: {name: {}}\nsteps: [{id: s, signal: "go-${{ input.name }}(1)"}]', {
      input: {name: 'on'},
    })
    refused('workflow_signal_unknown', () => sendSignal(context, {run: run_id, key: 'go-on1'}))
    sendSignal(context, {run: run_id, key: 'go-on(1)'})
    assert.equal((await resume(run_id)).status, 'completed')
  })

  it('takes only a clear decision on an approval', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const {run_id} = await run('steps: [{id: ask, approval: "Go on?"}]')
    for (const payload of [
      undefined,
      ...unclear,
      ...unclear.map((approved) => ({approved})),
      {approved: true, reason: 1},
    ])
      refused('workflow_decision_invalid', () => sendSignal(context, {run: run_id, key: 'ask', payload}))
    refused('workflow_decision_invalid', () =>
      sendSignal(context, {run: run_id, key: 'ask', payload: null, isPerson: true}),
    )
    sendSignal(context, {run: run_id, key: 'ask', payload: {approved: false, reason: 'not today'}})
    await resume(run_id)
    assert.match(runReport(context, run_id).error ?? '', /rejected: not today/)
    // A rejection is not final: the approval is asked for again.
    assert.equal((await resume(run_id)).status, 'waiting')
  })

  it('gives a repeated decision the first reply, and refuses another one', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const {run_id} = await run('steps: [{id: ask, approval: "Go on?"}, {id: then, signal: go}]')
    const send = (key: string, payload?: unknown) => sendSignal(context, {run: run_id, key, payload, isPerson: true})
    const refuse = () => refused('workflow_decided', () => send('ask', {approved: false, reason: 'no'}))
    const first = send('ask')
    // The reply may have been lost before or after the run used the decision, or has ended.
    assert.deepEqual(send('ask', {approved: true}), first)
    refuse()
    await resume(run_id)
    assert.deepEqual(send('ask', true), first)
    refuse()
    const go = send('go', {n: 1})
    assert.deepEqual(send('go', {n: 1}), go)
    assert.equal((await resume(run_id)).status, 'completed')
    assert.deepEqual([send('ask'), send('go', {n: 1})], [first, go])
    refuse()
    refused('workflow_finished', () => send('go', {n: 2}))
    refused('workflow_decision_invalid', () => send('ask', 'yes'))
  })

  it('takes a decision for each round of a loop, and another one after a rejection', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const {run_id} = await run('steps: [{id: all, for_each: [1, 2], steps: [{id: ask, approval: "Go on?"}]}]')
    const send = (payload?: unknown) =>
      sendSignal(context, {run: run_id, key: 'ask', payload, isPerson: true}).signal_id
    const [first, second] = [send(), send()]
    assert.notEqual(first, second)
    const {status, run_id: id} = await resume(run_id)
    assert.equal(status, 'completed')
    const again = await run('steps: [{id: ask, approval: "Go on?"}]')
    const decide = (payload: unknown) => sendSignal(context, {run: again.run_id, key: 'ask', payload}).signal_id
    const rejected = decide(false)
    assert.equal((await resume(again.run_id)).status, 'failed')
    assert.equal(decide(false), rejected)
    assert.equal((await resume(again.run_id)).status, 'waiting')
    assert.notEqual(decide(true), rejected)
    assert.equal((await resume(again.run_id)).status, 'completed')
    assert.equal(id, run_id)
  })

  it('is interrupted if its process ended, and has a driver while one runs it', async (test) => {
    const {run, context, resume} = await openFlows(test)
    const stop = new AbortController()
    const ended = run('steps: [{id: s, signal: go}]', {
      runId: 'r',
      stays: true,
      signal: stop.signal,
      kind: 'daemon',
      onWaiting: () => {
        const {status, driver} = runReport(context, 'r')
        assert.deepEqual([status, driver?.kind, driver?.pid], ['running', 'daemon', process.pid])
        stop.abort(new SvcError('interrupted', {}))
      },
    })
    await assert.rejects(ended, (error: SvcError) => isErrorOf(error, 'interrupted'))
    for (const [status, count] of [
      ['interrupted', 1],
      ['running', 0],
      ['waiting', 0],
    ] as const)
      assert.equal(listRuns(context, {status}).length, count, status)
    assert.equal(runReport(context, 'r').driver, undefined)
    sendSignal(context, {run: 'r', key: 'go'})
    assert.equal((await resume('r')).status, 'completed')
  })

  it('takes signals of a key in order, also those that came before', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const {run_id} = await run(
      'steps: [{id: first, signal: s}, {id: gap, signal: g}, {id: second, signal: s}]\noutput: "${{ [steps.first, steps.second] }}"',
    )
    for (const [key, payload] of [
      ['s', 1],
      ['s', 2],
      ['g', 0],
    ] as const)
      sendSignal(context, {run: run_id, key, payload})
    assert.deepEqual(outputOf(await resume(run_id)), [1, 2])
  })

  it('is continued by an approval and ended by a rejection', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const yaml = 'steps: [{id: ok, approval: "Ship ${{ input.v }}?"}]\ninput: {v: {default: "1"}}'
    const first = await run(yaml)
    assert.equal(runReport(context, first.run_id).activities[0]?.prompt, 'Ship 1?')
    sendSignal(context, {run: first.run_id, key: 'ok', isPerson: true})
    assert.deepEqual(outputOf(await resume(first.run_id)), {approved: true})
    const second = await run(yaml)
    sendSignal(context, {run: second.run_id, key: 'ok', payload: {approved: false, reason: 'too early'}})
    assert.equal((await resume(second.run_id)).last_error, 'ok failed: rejected: too early.')
    // The rejection is consumed: the run can be resumed, and waits again.
    assert.equal((await resume(second.run_id)).status, 'waiting')
  })

  it('counts a timer from its start, not from a resumption', async (test) => {
    const {run, resume, context} = await openFlows(test, {clock: {ms: 1_764_000_000_000}})
    const {run_id, status, wake_at_ms} = await run('steps: [{id: t, timer: 10m}]')
    assert.deepEqual([status, wake_at_ms], ['waiting', context.clock.ms + 600_000])
    context.clock.ms += 599_000
    assert.equal((await resume(run_id)).status, 'waiting')
    context.clock.ms += 1000
    const row = await resume(run_id)
    assert.deepEqual(outputOf(row), {waited_ms: 600_000})
  })

  it('fails at the timeout of the wait', async (test) => {
    const {run, resume, context} = await openFlows(test, {clock: {ms: 1_764_000_000_000}})
    const {run_id, wake_at_ms} = await run('steps: [{id: s, signal: go, timeout: 1m}]')
    assert.equal(wake_at_ms, context.clock.ms + 60_000)
    context.clock.ms += 60_000
    assert.match((await resume(run_id)).last_error ?? '', /^s did not end within 60000 ms/)
  })

  it('waits for the end of a task, which it submits once', async (test) => {
    const {run, resume, context} = await openFlows(test, {toml: external})
    const yaml = 'steps: [{id: t, task: "Write the notes"}]\noutput: "${{ steps.t.status }}"'
    const {run_id, status} = await run(yaml)
    assert.equal(status, 'waiting')
    assert.equal((await resume(run_id)).status, 'waiting')
    const [task, ...others] = listTasks(context, {})
    assert.deepEqual(others, [])
    assert.equal(task?.description, 'Write the notes')
    const {generation} = takeClaim(context, {owner: 'client'})
    acceptTask(context, task?.id ?? 0, {text: 'done'}, {generation})
    assert.ok((requireRun(context, run_id).wake_at_ms ?? Number.POSITIVE_INFINITY) <= Date.now())
    assert.equal(outputOf(await resume(run_id)), 'Completed')
  })

  it('fails with its task', async (test) => {
    const {run, resume, context} = await openFlows(test, {toml: external})
    const {run_id} = await run('steps: [{id: t, task: {description: Write the notes, priority: urgent}}]')
    cancelTask(context, 1)
    assert.match((await resume(run_id)).last_error ?? '', /^t failed: T-0001 ended as Cancelled/)
  })
})

describe('a resumed run', () => {
  it('repeats no completed activity, and gives a failed one all its attempts again', async (test) => {
    const {run, resume, file, entries} = await openFlows(test)
    const {run_id, status} = await run(`
steps:
  - {id: once, exec: [sh, -c, 'echo once >> "${file('log')}"; echo made']}
  - {id: needs, exec: [test, -e, '${file('there')}']}
output: "\${{ steps.once.stdout.trim() }}"`)
    assert.equal(status, 'failed')
    entries.length = 0
    await writeFile(file('there'), '')
    assert.equal(outputOf(await resume(run_id)), 'made')
    assert.equal(await readFile(file('log'), 'utf8'), 'once\n')
    assert.deepEqual(eventsOf(entries, 'once'), ['ActivityReplayed', 'LocalActivity', 'ActivityCompleted'])
    const recovered = entries.find(({event}) => event === 'ActivityAttemptRecovered')
    assert.deepEqual([recovered?.activity, recovered?.resume_attempt], ['needs', 2])
  })

  it('keeps the decision of a branch and the version of a patch', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const source = (condition: string, max: number) =>
      `steps: [{id: b, if: "${condition}", then: [{id: p, patch: {change: c, max: ${max}}}], else: [{id: e, value: 0}]}, {id: s, signal: go}]\noutput: "\${{ steps.p }}"`
    const {run_id} = await run(source('true', 1), {runId: 'r'})
    sendSignal(context, {run: run_id, key: 'go'})
    await assert.rejects(
      async () => run(source('false', 2), {runId: 'r'}),
      (error) => isErrorOf(error, 'workflow_changed'),
    )
    const changed = startRun(
      context,
      workflow(source('false', 2)),
      {runId: 'r', input: {}, adopt: true},
      {
        ports: plainPorts,
        signal: new AbortController().signal,
        stays: false,
      },
    )
    assert.equal(outputOf(await changed.done), 1)
    await assert.rejects(resume('r'), (error) => isErrorOf(error, 'workflow_finished'))
  })

  it('refuses a changed file until the change is adopted', async (test) => {
    const {run, resume, file, context} = await openFlows(test)
    const yaml = (value: number) => `{steps: [{id: s, signal: go}, {id: v, value: ${value}}]}`
    const path = file('flow.yaml')
    const write = (value: number) => writeFile(path, `version: 1\nworkflows: {flow: ${yaml(value)}}`)
    await write(1)
    const {run_id} = await run(yaml(1), {source: path})
    sendSignal(context, {run: run_id, key: 'go'})
    await write(2)
    await assert.rejects(resume(run_id), (error) => isErrorOf(error, 'workflow_changed'))
    assert.equal(outputOf(await resume(run_id, {adopt: true})), 2)
  })

  it('belongs to one process at a time', async (test) => {
    const {context} = await openFlows(test)
    const over = new AbortController()
    const options = {ports: plainPorts, signal: over.signal, stays: true}
    const {runId, done} = startRun(context, workflow('steps: [{id: s, signal: go}]'), {input: {}}, options)
    await assert.rejects(
      async () => startRun(context, workflow('steps: [{id: s, signal: go}]'), {runId, input: {}}, options),
      (error) => isErrorOf(error, 'workflow_lease_held'),
    )
    over.abort(new Error('stopped'))
    await assert.rejects(done, /stopped/)
    assert.equal(requireRun(context, runId).lease_owner, null)
    const runner = startWorkflowRunner(context, {ports: plainPorts})
    test.after(() => runner.stop())
    await until(() => requireRun(context, runId).status === 'waiting', 'waiting')
    sendSignal(context, {run: runId, key: 'go'})
    runner.wake()
    await until(() => requireRun(context, runId).status === 'completed', 'completed')
  })

  it('is taken over at once from a process that has died', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const {run_id} = await run('steps: [{id: s, signal: go}]')
    context.store.run(
      "UPDATE workflow_run_log SET status = 'running', lease_owner = 'other', lease_until_ms = ?, lease_host = ?, lease_pid = ?, lease_process_start = '1' WHERE run_id = ?",
      [Date.now() + 30_000, hostname(), 2 ** 22 - 1, run_id],
    )
    sendSignal(context, {run: run_id, key: 'go'})
    assert.equal((await resume(run_id)).status, 'completed')
  })
})

describe('a cancelled run', () => {
  it('ends its activities and undoes what it did', async (test) => {
    const {context, file} = await openFlows(test)
    const options = {ports: plainPorts, signal: new AbortController().signal, stays: true}
    const {runId, done} = startRun(
      context,
      workflow(
        `steps: [{id: a, value: 1, compensate: {exec: [touch, '${file('undone')}']}}, {id: b, exec: [sleep, '600']}]`,
      ),
      {input: {}},
      options,
    )
    await until(() => runReport(context, runId).activities.length === 2, 'two activities')
    await cancelRun(context, runId, options)
    assert.equal((await done).status, 'cancelled')
    await readFile(file('undone'))
    await assert.rejects(cancelRun(context, runId, options), (error) => isErrorOf(error, 'workflow_finished'))
  })

  it('waits in no process while a compensation waits', async (test) => {
    const {run, resume, context} = await openFlows(test)
    const {run_id, status} = await run(
      'steps: [{id: a, value: 1, compensate: {id: undo, signal: go}}, {id: b, exec: ["false"]}]',
    )
    assert.equal(status, 'waiting')
    sendSignal(context, {run: run_id, key: 'go'})
    const row = await resume(run_id)
    assert.deepEqual([row.status, row.last_error], ['failed', 'b failed: false exited with status 1.'])
  })

  it('is undone by the command if no process drives it', async (test) => {
    const {run, context, entries} = await openFlows(test)
    const {run_id} = await run('steps: [{id: a, value: 1, compensate: {id: u, value: 2}}, {id: s, signal: go}]')
    entries.length = 0
    const options = {ports: plainPorts, signal: new AbortController().signal, stays: true}
    assert.equal((await cancelRun(context, run_id, options)).status, 'cancelled')
    assert.deepEqual(
      runReport(context, run_id).activities.map(({activity_id, status}) => `${activity_id} ${status}`),
      ['a completed', 's interrupted', 'u completed'],
    )
  })
})

describe('a message that a run has dispatched', () => {
  const receiver = '7'
  const steps = (rest: string) => `steps: [{id: d, mesh_dispatch: {receiver: '7', payload: work}}, ${rest}]`

  /** A control plane, and ports whose clients use it. */
  async function withMesh(test: TestContext) {
    const {baseUrl, store} = await startPlane(test)
    const clientOf = () => createMeshClient({baseUrl, tokens: {}})
    const claimer = {id: 'claimer', version: '1.0.0', capabilities: {}}
    const mesh = async () => ({client: clientOf(), node: {...claimer, id: 'n'}, claimer, agent: '42'})
    await store.join('', {id: 'worker', version: '1.0.0', capabilities: {}})
    return {
      options: {ports: {...plainPorts, mesh}, signal: new AbortController().signal, stays: false},
      claim: () => store.claim('', {receiver, claimer: 'worker'}),
      inbox: async () => (await store.peek('', {receiver, limit: 10})).map(({message_type: type}) => type),
    }
  }
  const withdrawals = (entries: readonly WorkflowJournalEntry[]) =>
    entries.filter(({mesh_op: operation}) => operation === 'withdraw').map(({control}) => control)

  it('is in the inbox of its receiver, and stays there if the run succeeds', async (test) => {
    const {options, inbox} = await withMesh(test)
    const {run, entries} = await openFlows(test)
    assert.equal((await run(steps('{value: 1}'), options)).status, 'completed')
    assert.deepEqual([await inbox(), withdrawals(entries)], [['free_form'], []])
  })

  it('is taken back if the run fails or is cancelled', async (test) => {
    const {options, inbox} = await withMesh(test)
    const {run, resume, context, entries} = await openFlows(test)
    const failed = await run(steps('{exec: ["false"]}'), options)
    assert.deepEqual([failed.status, await inbox()], ['failed', []])
    // A resumed run would not send the message again.
    await assert.rejects(resume(failed.run_id), (error) => isErrorOf(error, 'workflow_finished'))
    const {run_id} = await run(steps('{signal: go}'), options)
    assert.deepEqual(await inbox(), ['free_form'])
    await cancelRun(context, run_id, options)
    assert.deepEqual([await inbox(), withdrawals(entries)], [[], ['withdraw_ok']])
    for (const entry of entries) await assertContract('workflow/workflow-journal.v1', entry, entry.event)
  })

  it('does not keep a failed run from being resumed if it was acknowledged', async (test) => {
    const {options, claim} = await withMesh(test)
    const {run, resume, context, entries} = await openFlows(test)
    const {run_id} = await run(steps('{signal: go}, {exec: ["false"]}'), options)
    const {id = 0} = (await claim()) ?? {}
    const {client} = await options.ports.mesh()
    await client.ack({receiver, message: id, claimer: 'worker'})
    await client.close()
    sendSignal(context, {run: run_id, key: 'go'})
    assert.equal((await resume(run_id, options)).status, 'failed')
    assert.equal((await resume(run_id, options)).status, 'failed')
    assert.deepEqual(withdrawals(entries), [])
  })

  it('is followed by one request to stop if somebody has claimed it', async (test) => {
    const {options, inbox, claim} = await withMesh(test)
    const {run, context} = await openFlows(test)
    const {run_id} = await run(steps('{signal: go}'), options)
    const claimed = await claim()
    await cancelRun(context, run_id, options)
    assert.deepEqual((await inbox()).sort(), ['cancel_request', 'free_form'])
    await options.ports.mesh().then(async ({client}) => {
      await client.ack({receiver, message: claimed?.id ?? 0, claimer: 'worker'})
      await client.close()
    })
    const {message_type, payload} = (await claim()) ?? {}
    assert.deepEqual([message_type, JSON.parse(payload ?? '{}').message_id], ['cancel_request', claimed?.id])
  })

  it('does not keep a run from ending if the control plane is gone', async (test) => {
    const {options} = await withMesh(test)
    const {run, context, entries} = await openFlows(test)
    const {run_id} = await run(steps('{signal: go}'), options)
    const mesh = () => Promise.reject(new Error('It is gone.'))
    const onEntry = (entry: WorkflowJournalEntry) => entries.push(entry)
    const gone = {...options, onEntry, ports: {...plainPorts, mesh}}
    assert.equal((await cancelRun(context, run_id, gone)).status, 'cancelled')
    assert.deepEqual(withdrawals(entries), ['withdraw_failed'])
  })
})

describe('a task of a run', () => {
  const statuses = (context: Orchestrator) => listTasks(context, {}).map(({status}) => status)
  const driving = {ports: plainPorts, signal: new AbortController().signal, stays: true}

  it('is cancelled with the run, and its worker learns it at the next heartbeat', async (test) => {
    const {run, context} = await openFlows(test, {toml: external})
    const {run_id} = await run('steps: [{id: t, task: pay}]')
    const {task, generation} = takeClaim(context, {owner: 'client'})
    await cancelRun(context, run_id, driving)
    assert.deepEqual(statuses(context), ['Cancelled'])
    const {params} = refused('claim_lost', () => renewClaim(context, task.id, {generation}))
    assert.equal(params.status, 'Cancelled')
  })

  it('is cancelled at the timeout of its step, so that at most one attempt is in the queue', async (test) => {
    const {run, resume, context} = await openFlows(test, {toml: external, clock: {ms: 1_764_000_000_000}})
    const {run_id} = await run('steps: [{id: t, task: pay, timeout: 1m, retries: 2, initial_backoff: 1}]')
    for (const expected of [
      ['Queued', 'Cancelled'],
      ['Queued', 'Cancelled', 'Cancelled'],
      Array(3).fill('Cancelled'),
    ]) {
      context.clock.ms += 60_000
      await resume(run_id)
      assert.deepEqual(statuses(context), expected)
    }
    assert.equal(requireRun(context, run_id).status, 'failed')
  })

  it('is submitted again by a resumption even if the cancelled one was deleted', async (test) => {
    const {run, resume, file, context} = await openFlows(test, {toml: external})
    const {run_id} = await run(
      `steps: [{parallel: {a: [{id: t, task: pay}], b: [{id: e, exec: [test, -e, '${file('there')}']}]}}]`,
    )
    context.store.run('DELETE FROM orch_tasks')
    await writeFile(file('there'), '')
    await resume(run_id)
    assert.deepEqual(statuses(context), ['Queued'])
    await cancelRun(context, run_id, driving)
    assert.deepEqual(statuses(context), ['Cancelled'])
  })

  it('is cancelled if a parallel step fails, and is submitted again by a resumption', async (test) => {
    const {run, resume, file, context} = await openFlows(test, {toml: external})
    const {run_id} = await run(
      `steps: [{parallel: {a: [{id: t, task: pay}], b: [{id: e, exec: [test, -e, '${file('there')}']}]}}]`,
    )
    assert.deepEqual(statuses(context), ['Cancelled'])
    const shown = () => runReport(context, run_id).activities.map(({activity, status}) => `${activity} ${status}`)
    assert.deepEqual(shown(), ['t interrupted', 'e failed'])
    await writeFile(file('there'), '')
    await resume(run_id)
    assert.deepEqual(statuses(context), ['Queued', 'Cancelled'])
  })

  it('is tried as often as declared if its first attempt was withdrawn', async (test) => {
    const {run, resume, file, context} = await openFlows(test, {toml: external, clock: {ms: 1_764_000_000_000}})
    const {run_id} = await run(
      `steps: [{parallel: {a: [{id: t, task: pay, timeout: 1m, retries: 1, initial_backoff: 1}],
  b: [{id: e, exec: [test, -e, '${file('there')}']}]}}]`,
    )
    await writeFile(file('there'), '')
    await resume(run_id)
    for (const expected of [['Queued', 'Cancelled', 'Cancelled'], Array(3).fill('Cancelled')]) {
      context.clock.ms += 60_000
      await resume(run_id)
      assert.deepEqual(statuses(context), expected)
    }
    assert.equal(requireRun(context, run_id).status, 'failed')
  })

  it('is cancelled if its plan is replaced', async (test) => {
    const {run, resume, context} = await openFlows(test, {toml: external})
    const {run_id} = await run('steps: [{id: t, task: pay}]')
    context.store.run("UPDATE workflow_run_log SET plan_session_id = 'p', plan_version = 2")
    notify(context, 'planReplaced', {planSessionId: 'p', version: 1})
    assert.equal((await resume(run_id)).status, 'waiting')
    notify(context, 'planReplaced', {planSessionId: 'p', version: 2})
    assert.equal((await resume(run_id)).status, 'cancelled')
    assert.deepEqual(statuses(context), ['Cancelled'])
  })

  it('is not cancelled by the end of the run once it has a result', async (test) => {
    const {run, resume, context} = await openFlows(test, {toml: external})
    const {run_id} = await run('steps: [{id: t, task: pay}, {id: s, signal: go}]')
    const {task, generation} = takeClaim(context, {owner: 'client'})
    acceptTask(context, task.id, {text: 'done'}, {generation})
    await resume(run_id)
    doubtTask(context, task.id, 'unclear')
    await cancelRun(context, run_id, driving)
    assert.deepEqual(statuses(context), ['Doubted'])
  })
})

describe('old runs', () => {
  it('are deleted with all their records, unless they wait or can be resumed, and counted in an event', async (test) => {
    const {run, context} = await openFlows(test, {clock: {ms: 1_764_000_000_000}})
    const steps = {
      completed: 'steps: [{id: a, value: 1}]',
      failed: 'steps: [{exec: ["false"]}]',
      undone: 'steps: [{id: a, value: 1, compensate: {id: u, value: 2}}, {exec: ["false"]}]',
      waiting: 'steps: [{id: s, signal: go}]',
    }
    const ids: Record<string, string> = {}
    for (const [name, yaml] of Object.entries(steps)) ids[name] = (await run(yaml)).run_id
    const left = () => {
      const kept = new Set(listRuns(context, {limit: 100}).map(({run_id}) => run_id))
      return Object.keys(ids).filter((name) => kept.has(ids[name] ?? ''))
    }
    const clean = (days: number) => {
      context.clock.ms += days * 86_400_000
      notify(context, 'cleanup', {retentionDays: 90})
    }
    clean(29)
    assert.equal(left().length, 4)
    assert.equal(pruneRuns(context, {olderThanMs: 0, dryRun: true}), 2)
    clean(2)
    assert.deepEqual(left(), ['failed', 'waiting'])
    const [event] = readEvents(context, {types: ['workflow_runs_pruned']})
    assert.deepEqual(event?.kind, {type: 'workflow_runs_pruned', runs: 2})
    const records = context.store.all<{run_id: string}>('SELECT DISTINCT run_id FROM workflow_activity_log')
    assert.deepEqual(records.map(({run_id}) => run_id).sort(), [ids.failed, ids.waiting].sort())
    assert.equal(pruneRuns(context, {olderThanMs: 0, failed: true}), 1)
    assert.deepEqual(left(), ['waiting'])
  })

  it('are deleted by the policy of the store in the same way', async (test) => {
    const {tables} = await readRetentionPolicy()
    const rule = tables.workflow_run_log
    assert.ok(rule?.kind === 'ms_days')
    assert.equal(rule.condition, hasEndedForGood)
    const {run, context} = await openFlows(test)
    for (const yaml of ['steps: [{id: a, value: 1}]', 'steps: [{exec: ["false"]}]']) await run(yaml)
    const later = {apply: true, now: Date.now() + 31 * 86_400_000}
    const pruned = await pruneTables(context.store.path, {workflow_run_log: rule}, later)
    assert.equal(pruned[0]?.rows, 1)
    assert.deepEqual(context.store.all('SELECT status FROM workflow_run_log'), [{status: 'failed'}])
    assert.deepEqual(context.store.all('PRAGMA foreign_key_check'), [])
  })
})

describe('a store with runs of an earlier version', () => {
  it('is upgraded, and its runs continue with their results', async (test) => {
    const root = await temporaryFolder(test)
    const path = join(root, '.svc', 'store.db')
    const undo = (name: string) => `compensate: {exec: [sh, -c, "echo ${name} >> undone"]}`
    const flow = workflow(`
steps:
  - {id: z, exec: [echo, z], ${undo('z')}}
  - {id: a, exec: [echo, a], retries: 1, ${undo('a')}}
  - {id: s, signal: go}
  - {if: "steps.s == 1", then: [{exec: ["false"]}]}
output: "\${{ [steps.z.stdout, steps.a.stdout, steps.s] }}"`)
    const [tables = '', output = ''] = workflowFragment.migrations
    const older = await openStore(path, [fragment('workflows', tables, output)])
    const result = (text: string) => JSON.stringify({result: {stdout: text}, event: {event: 'LocalActivity'}})
    for (const id of ['fails', 'completes']) {
      const repository = repositoryId(root)
      older.run(
        `INSERT INTO workflow_run_log (run_id, repository_id, workflow_name, status, planned_steps, completed_steps,
  started_at_ms, updated_at_ms, definition_json, definition_digest, input_json) VALUES (?, ?, 'flow', 'waiting', 5, 2, 1, 1, ?, ?, '{}')`,
        [id, repository, JSON.stringify(flow.source), flow.digest],
      )
      const log = (activity: string, status: string, json: string | null) =>
        older.run(
          `INSERT INTO workflow_activity_log (run_id, workflow_name, activity_id, status, activity_name, result_json, recorded_at_ms)
VALUES (?, 'flow', ?, ?, ?, ?, 1)`,
          [id, activity, status, activity, json],
        )
      const attempt = (activity: string, no: number, status: string) =>
        older.run(
          `INSERT INTO workflow_activity_attempt_log (run_id, workflow_name, activity_id, attempt_no, status, recorded_at_ms)
VALUES (?, 'flow', ?, ?, ?, 1)`,
          [id, activity, no, status],
        )
      for (const activity of ['z', 'a']) {
        log(activity, 'started', null)
        log(activity, 'completed', result(`old ${activity}`))
        attempt(activity, 1, 'started')
      }
      attempt('z', 1, 'completed')
      attempt('a', 1, 'failed')
      attempt('a', 2, 'started')
      attempt('a', 2, 'completed')
      log('s', 'started', '{"signal_key":"go"}')
      attempt('s', 1, 'started')
    }
    older.close()

    const {context, resume} = await openFlows(test, {root, toml: '[orchestrator]\n'})
    for (const [run, payload] of [
      ['completes', 2],
      ['fails', 1],
    ] as const)
      sendSignal(context, {run, key: 'go', payload})
    const completed = await resume('completes')
    assert.deepEqual(outputOf(completed), ['old z', 'old a', 2])
    assert.equal(completed.completed_steps, 4)
    const activities = runReport(context, 'completes').activities.map(({activity, attempts}) => [activity, attempts])
    assert.deepEqual(activities, [
      ['z', 1],
      ['a', 2],
      ['s', 1],
      ['if', 0],
    ])
    assert.equal((await resume('fails')).status, 'failed')
    assert.equal(await readFile(join(root, 'undone'), 'utf8'), 'a\nz\n')
  })
})

describe('a step that was interrupted half-way', () => {
  for (const [step, isUndone] of [
    [`exec: [sleep, '600']`, true],
    ['signal: go', false],
    ['task: pay', false],
  ] as const)
    it(`is ${isUndone ? '' : 'not '}undone if it is ${step}`, async (test) => {
      const {context, file} = await openFlows(test, {toml: external})
      const options = {ports: plainPorts, signal: new AbortController().signal, stays: true}
      const yaml = `
steps:
  - parallel:
      half: [{id: half, ${step}, compensate: {exec: [touch, '${file('undone')}']}}]
      bad: [{id: wait, signal: now}, {id: bad, exec: ['false'], compensate: {exec: [touch, '${file('bad')}']}}]`
      const {runId, done} = startRun(context, workflow(yaml), {input: {}}, options)
      await until(() => runReport(context, runId).activities.length === 2, 'both steps')
      sendSignal(context, {run: runId, key: 'now'})
      assert.equal((await done).status, 'failed')
      assert.equal(existsSync(file('undone')), isUndone)
      assert.ok(!existsSync(file('bad')))
      assert.equal(runReport(context, runId).activities[0]?.status, 'interrupted')
    })

  it('is undone if it is a task that a worker has begun', async (test) => {
    const {run, context, file} = await openFlows(test, {toml: external})
    const {run_id} = await run(`steps: [{id: t, task: pay, compensate: {exec: [touch, '${file('undone')}']}}]`)
    takeClaim(context, {owner: 'client'})
    await cancelRun(context, run_id, {ports: plainPorts, signal: new AbortController().signal, stays: true})
    assert.ok(existsSync(file('undone')))
  })
})

describe('the replay of a run', () => {
  it('reproduces outputs, failures and waits without executing anything', async (test) => {
    const {run, context, file} = await openFlows(test)
    const done = await run(
      `steps: [{id: a, exec: [sh, -c, 'echo x >> "${file('log')}"; echo 5']}]\noutput: "\${{ int(steps.a.stdout.trim()) }}"`,
    )
    assert.deepEqual(await replayRun(context, done.run_id), {
      run_id: done.run_id,
      workflow: 'flow',
      status: 'completed',
      activities: 1,
      output: 5,
      reproduced: true,
    })
    assert.equal(await readFile(file('log'), 'utf8'), 'x\n')
    const failed = await run('steps: [{id: a, value: 1}, {id: b, exec: ["false"]}]')
    assert.deepEqual(
      (({error, stopped_at, reproduced}) => ({error, stopped_at, reproduced}))(await replayRun(context, failed.run_id)),
      {
        error: 'b failed: false exited with status 1.',
        stopped_at: 'b',
        reproduced: true,
      },
    )
    const waiting = await run('steps: [{id: s, signal: go}]')
    assert.equal((await replayRun(context, waiting.run_id)).reproduced, true)
    assert.deepEqual(
      listRuns(context, {status: 'failed'}).map(({run_id}) => run_id),
      [failed.run_id],
    )
  })

  it('notices results that do not lead to the recorded output', async (test) => {
    const {run, context} = await openFlows(test)
    const {run_id} = await run('steps: [{id: a, value: 1}]')
    context.store.run(
      `UPDATE workflow_activity_log SET result_json = '{"result":2,"event":{"event":"LocalActivity"}}' WHERE run_id = ? AND status = 'completed'`,
      [run_id],
    )
    assert.equal((await replayRun(context, run_id)).reproduced, false)
  })
})

describe('activities of workflows', () => {
  it('reuse a result only within the window that the step allows', async (test) => {
    const {run, entries, file} = await openFlows(test)
    const yaml = (cache: string) => `steps: [{id: a, exec: [sh, -c, 'echo x >> "${file('log')}"']${cache}}]`
    await run(yaml(', cache: 1h'))
    await run(yaml(', cache: 1h'))
    assert.deepEqual(eventsOf(entries, 'a').slice(-2), ['ActivityCacheHit', 'ActivityCompleted'])
    await run(yaml(''))
    assert.equal(await readFile(file('log'), 'utf8'), 'x\nx\n')
  })

  it('call only hosts that the workflow lists', async (test) => {
    const {run} = await openFlows(test)
    const server = createServer((request, response) => {
      if (request.url === '/large') return response.end('x'.repeat(2000))
      if (request.url === '/moved') return response.writeHead(302, {location: '/ok'}).end()
      response
        .setHeader('content-type', 'application/json')
        .end(`{"id": 9007199254740993, "method": "${request.method}", "key": "${request.headers['idempotency-key']}"}`)
    }).listen(0, '127.0.0.1')
    test.after(() => server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const {port} = server.address() as AddressInfo
    const call = (path: string, host = '127.0.0.1', hosts = `["127.0.0.1:${port}"]`) =>
      `hosts: ${hosts}\nsteps: [{id: h, http: {url: "http://${host}:${port}${path}", method: POST, body: {a: 1}, max_bytes: 1000}}]`
    const row = await run(call('/ok'))
    // An integer that would be rounded is a string.
    const answered = {id: '9007199254740993', method: 'POST', key: `${row.run_id}/h`}
    assert.deepEqual((outputOf(row) as {body: unknown}).body, answered)
    assert.match((await run(call('/large'))).last_error ?? '', /larger than 1000 bytes/)
    assert.match((await run(call('/moved'))).last_error ?? '', /status 302/)
    assert.match((await run(call('/ok', '127.0.0.1', '[]'))).last_error ?? '', /not in hosts/)
    assert.match((await run(call('/ok', 'localhost'))).last_error ?? '', /not in hosts/)
    for (const address of [
      '127.0.0.1',
      '127.9.9.9',
      '0.0.0.0',
      '169.254.169.254',
      '::1',
      'fe80::1',
      '::ffff:127.0.0.1',
    ])
      assert.ok(isInternal(address), address)
    for (const address of ['10.0.0.1', '93.184.216.34', '2606:2800::1']) assert.ok(!isInternal(address), address)
  })

  it('use the ports for speech and models, and fail without them', async (test) => {
    const {run} = await openFlows(test)
    const ports = {
      ...plainPorts,
      transcribe: async ({file}: {file: string}) => ({text: `said in ${file}`}),
      generate: async ({prompt}: {prompt: string}) => ({text: `\`\`\`json\n{"plan": "${prompt}"}\n\`\`\``, model: 'm'}),
    }
    const yaml =
      'steps: [{id: t, transcribe: a.wav}, {id: g, generate: "${{ steps.t.text }}", json: true}]\noutput: "${{ steps.g.json.plan }}"'
    assert.equal(outputOf(await run(yaml, {ports})), 'said in a.wav')
    assert.match((await run(yaml)).last_error ?? '', /speech recognition is not available/)
  })

  it('count the nodes of the local registry without a control plane, and skip other calls of the mesh', async (test) => {
    const {run, entries} = await openFlows(test)
    const row = await run(
      'steps: [{id: n, mesh_snapshot: }, {id: j, mesh_join: {}}]\noutput: "${{ steps.n.node_count }}"',
      {
        ports: {...plainPorts, countLocalNodes: async () => 3},
      },
    )
    assert.equal(outputOf(row), 3)
    assert.equal(entries.find(({event}) => event === 'MeshActivity')?.control, 'local_registry_only')
    assert.match(entries.find(({event}) => event === 'MeshActivitySkipped')?.reason ?? '', /no control plane/)
  })
})
