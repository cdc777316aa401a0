import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {isErrorOf} from '../../src/errors/index.js'
import {createRun, listSchedules, readWorkflows, startWorkflowRunner} from '../../src/workflow/engine/index.js'
import {ScheduledWorkflows, startDue} from '../../src/workflow/engine/scheduled.js'
import {listRuns, requireRun} from '../../src/workflow/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {projectFile} from '../support/project.js'
import {until} from '../support/until.js'
import {plainPorts, workflow} from './support.js'

const minute = 60_000
const utc = (text: string) => Date.parse(`${text}Z`)

/** Times of the runs of a schedule, as seen by daemons that look at the given times, each the next one in turn. */
async function timesOf(test: TestContext, cron: string, looks: readonly number[]): Promise<string[]> {
  const place = await openTestOrchestrator(test)
  const flow = workflow(`cron: ${cron}\nsteps: [{value: 1}]`)
  const daemons = [place, await openTestOrchestrator(test, {root: place.root})] as const
  const runs = looks.flatMap((at, i) => startDue({...daemons[i % 2 === 0 ? 0 : 1], now: () => at}, flow, '/flow.yaml'))
  assert.equal(new Set(runs).size, runs.length)
  assert.equal(listRuns(place, {}).length, runs.length)
  return runs.map((run) => /^cron-flow-(.*)Z-\w+$/.exec(run)?.[1]?.slice(0, 16) ?? run)
}

/** Looks at every half minute of an interval. */
const everyHalfMinute = (from: string, to: string): number[] =>
  Array.from({length: (utc(to) - utc(from)) / 30_000 + 1}, (_, i) => utc(from) + i * 30_000)

describe('a scheduled workflow', () => {
  const berlin = (schedule: string, missed = 'skip') =>
    `{schedule: "${schedule}", time_zone: Europe/Berlin, missed: ${missed}}`

  for (const [what, cron, from, to, expected] of [
    ['at its times', '"*/15 9 * * *"', '2026-01-05T08:50', '2026-01-05T10:10', ['09:00', '09:15', '09:30', '09:45']],
    ['once if its time is left out in spring', berlin('30 2 * * *'), '2026-03-29T00:00', '2026-03-29T04:00', ['01:00']],
    [
      'once if its time occurs twice in autumn',
      berlin('30 2 * * *'),
      '2026-10-24T23:00',
      '2026-10-25T03:00',
      ['00:30'],
    ],
    ['every hour in spring', berlin('0 * * * *'), '2026-03-28T23:30', '2026-03-29T02:30', ['00:00', '01:00', '02:00']],
    ['every hour in autumn', berlin('0 * * * *'), '2026-10-24T23:30', '2026-10-25T02:30', ['00:00', '01:00', '02:00']],
  ] as const)
    it(`is started ${what}, by two daemons in turn`, async (test) => {
      const times = await timesOf(test, cron, everyHalfMinute(from, to))
      assert.deepEqual(
        times.map((time) => time.slice(11)),
        expected,
      )
    })

  for (const [missed, looks, expected] of [
    ['skip', ['08:00', '10:30', '11:00'], ['11:00']],
    ['once', ['08:00', '10:30', '11:00'], ['09:00', '11:00']],
    // One minute is no missed time, and neither is a start after a missed one.
    ['skip', ['08:00', '09:01', '11:00'], ['09:00', '11:00']],
    ['once', ['08:00', '11:00', '12:00'], ['11:00', '12:00']],
  ] as const)
    it(`with missed: ${missed} has the runs ${expected} if a daemon looks at ${looks}`, async (test) => {
      const at = looks.map((time) => utc(`2026-01-05T${time}`))
      const times = await timesOf(test, `{schedule: "0 * * * *", time_zone: UTC, missed: ${missed}}`, at)
      assert.deepEqual(
        times.map((time) => time.slice(11)),
        expected,
      )
    })

  it('whose schedule changes is due at the first new time', async (test) => {
    const place = await openTestOrchestrator(test)
    const start = (cron: string, at: string) =>
      startDue({...place, now: () => utc(`2026-01-05T${at}`)}, workflow(`cron: "${cron}"\nsteps: [{value: 1}]`), '/f')
        .length
    assert.deepEqual(
      [start('0 * * * *', '08:30'), start('45 * * * *', '09:00'), start('45 * * * *', '09:45')],
      [0, 0, 1],
    )
  })

  for (const [cron, message] of [
    ['"* * * * * *"', /, cron: cron has 6 fields instead of five/],
    ['"61 * * * *"', /Invalid value for minute: 61/],
    ['"0 0 30 2 *"', /no time that occurs/],
    ['{schedule: "0 0 * * *", time_zone: Mars/Base}', /no time zone Mars\/Base/],
  ] as const)
    it(`refuses ${cron}`, () => {
      assert.throws(
        () => workflow(`cron: ${cron}\nsteps: [{value: 1}]`),
        (error: Error) => isErrorOf(error, 'workflow_invalid') && message.test(error.message),
      )
    })

  it('needs a valid default for each input', () => {
    assert.throws(
      () => workflow('cron: "0 0 * * *"\ninput: {a: {}}\nsteps: [{value: 1}]'),
      /the input a needs a default/,
    )
    // Otherwise, each look at the time of the workflow would fail, and no other one would be started.
    assert.throws(
      () => workflow('cron: "0 0 * * *"\ninput: {a: {type: integer, default: x}}\nsteps: [{value: 1}]'),
      /the default of the input a must be of type integer/,
    )
  })

  const settings = '[orchestrator]\nworkflow_files = ["flow.yaml"]\n'
  const file = (cron: string) =>
    `version: 1\nworkflows: {flow: {cron: ${cron}, steps: [{exec: [sh, -c, 'echo x >>runs']}]}}`

  it('of a file is read again when the file changes, and stays while the file is invalid', async (test) => {
    const place = await openTestOrchestrator(test, {toml: settings})
    let now = utc('2026-01-05T08:00')
    const scheduled = new ScheduledWorkflows({...place, now: () => now})
    const look = async (source: string) => {
      await writeFile(`${place.root}/flow.yaml`, source)
      await scheduled.read()
      return scheduled.start().length
    }
    assert.equal(await look(file('"0 * * * *"')), 0)
    now += 60 * minute
    assert.equal(await look('version: 2'), 1)
    now += 60 * minute
    assert.equal(await look('version: 1\nworkflows: {other: {steps: [{value: 1}]}}'), 0)
  })

  it('is listed with its next start and its last run', async (test) => {
    const place = await openTestOrchestrator(test, {
      toml: '[orchestrator]\nworkflow_files = ["flow.yaml", "bad.yaml"]\n',
    })
    let now = utc('2026-03-28T08:00')
    const context = {...place, now: () => now}
    const file = `${place.root}/flow.yaml`
    const daily = '{cron: {schedule: "30  2 * * *", time_zone: Europe/Berlin, missed: once}, steps: [{value: 1}]}'
    const other = '{cron: "0 0 1 1 *", steps: [{value: 1}]}'
    await writeFile(
      file,
      `version: 1\nworkflows: {other: ${other}, daily: ${daily}, unscheduled: {steps: [{value: 1}]}}`,
    )
    await writeFile(`${place.root}/bad.yaml`, 'version: 2')
    const scheduled = new ScheduledWorkflows(context)
    await scheduled.read()
    const look = async () => {
      const {schedules, faults} = await listSchedules(context)
      assert.deepEqual(
        schedules.map(({workflow}) => workflow),
        ['daily', 'other'],
      )
      assert.deepEqual(
        faults.map((fault) => [fault.file, fault.error.includes(fault.file)]),
        [[`${place.root}/bad.yaml`, true]],
      )
      const [{next_at_ms: next = 0, last_run: last, ...first} = assert.fail()] = schedules
      assert.deepEqual(first, {workflow: 'daily', file, cron: '30 2 * * *', time_zone: 'Europe/Berlin', missed: 'once'})
      return [new Date(next).toISOString().slice(0, 16), last]
    }
    // No daemon has seen the file: its first time is the one after now, in the night of the change.
    assert.deepEqual(await look(), ['2026-03-29T01:00', undefined])
    scheduled.start()
    assert.deepEqual(await look(), ['2026-03-29T01:00', undefined])
    now = utc('2026-03-29T06:00')
    assert.deepEqual(await look(), ['2026-03-29T01:00', undefined])
    const [run_id] = scheduled.start()
    assert.deepEqual(await look(), ['2026-03-30T00:30', {run_id, status: 'queued', started_at_ms: now}])
    // A run that a person has started is not one of the schedule.
    const [flow = assert.fail()] = (await readWorkflows(file)).filter(({name}) => name === 'daily')
    now += minute
    createRun(context, flow, {runId: 'by-hand', input: {}, source: file})
    assert.deepEqual(await look(), ['2026-03-30T00:30', {run_id, status: 'queued', started_at_ms: now - minute}])
  })

  it('with missed: skip is listed with its next time, not with a missed one', async (test) => {
    const place = await openTestOrchestrator(test, {toml: settings})
    let now = utc('2026-01-05T08:30')
    const context = {...place, now: () => now}
    await writeFile(`${place.root}/flow.yaml`, file('{schedule: "0 * * * *", time_zone: UTC}'))
    const scheduled = new ScheduledWorkflows(context)
    await scheduled.read()
    scheduled.start()
    for (const [at, next] of [
      ['08:59', '09:00'],
      ['09:00', '09:00'],
      ['09:01', '09:00'],
      ['09:02', '10:00'],
      ['12:30', '13:00'],
    ] as const) {
      now = utc(`2026-01-05T${at}`)
      const [{next_at_ms} = assert.fail()] = (await listSchedules(context)).schedules
      assert.equal(next_at_ms, utc(`2026-01-05T${next}`), at)
    }
  })

  it('has one run if its daemon is killed after the start', async (test) => {
    const place = await openTestOrchestrator(test, {toml: settings, clock: 'real'})
    await writeFile(`${place.root}/flow.yaml`, file('{schedule: "0 0 1 1 *", missed: once}'))
    const scheduled = new ScheduledWorkflows(place)
    await scheduled.read()
    scheduled.start()
    // The time has come while no daemon ran.
    place.store.run('UPDATE workflow_schedules SET due_at_ms = ?', [Date.now() - 10 * minute])
    const program = projectFile('dist/test/workflow/run-in-process.js')
    const child = execa(process.execPath, [program, place.root], {reject: false, stdin: 'pipe'})
    test.after(() => child.kill('SIGKILL'))
    for await (const line of createInterface({input: child.stdout})) if (line.includes('cron-flow-')) break
    child.kill('SIGKILL')
    await child
    const runner = startWorkflowRunner(place, {ports: plainPorts})
    test.after(() => runner.stop())
    const [run, ...others] = listRuns(place, {})
    assert.deepEqual(others, [])
    await until(() => requireRun(place, run?.run_id ?? '').status === 'completed', 'the run is completed')
    scheduled.start()
    assert.equal(listRuns(place, {}).length, 1)
  })
})
