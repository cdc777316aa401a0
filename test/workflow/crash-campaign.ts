import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {stringify} from 'yaml'
import type {WorkflowStep} from '../../src/contracts/index.js'
import {signalKeysOf} from '../../src/workflow/definition/signal-keys.js'
import {createRun, replayRun, startRun} from '../../src/workflow/engine/index.js'
import {requireRun, sendSignal} from '../../src/workflow/index.js'
import {definitionOf} from '../../src/workflow/store/runs.js'
import {openTestOrchestrator, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {startProgram} from '../support/program.js'
import {projectFile} from '../support/project.js'
import {type Random, seeded} from '../support/random.js'
import {plainPorts, workflow} from './support.js'

/** A workflow of random steps. Its programs append what they do to a log; the attempts that fail are the same in each run. */
function randomWorkflow(random: Random, log: string): string {
  let ids = 0
  const record = (more: Partial<WorkflowStep> = {}): WorkflowStep => {
    const id = `s${ids++}`
    const script = `printf '%s\\n' "$SVC_WORKFLOW_RUN_ID $SVC_WORKFLOW_ACTIVITY $SVC_WORKFLOW_ATTEMPT" >> '${log}'; echo ${id}`
    return {id, exec: ['sh', '-c', script], ...more}
  }
  const step = (depth: number): WorkflowStep => {
    const kind = random.below(depth > 1 ? 5 : 8)
    switch (kind) {
      case 0:
      case 1:
        return record()
      case 2:
        return record({compensate: record()})
      case 3:
        return {id: `s${ids++}`, timer: random.below(30)}
      case 4:
        return {id: `s${ids++}`, signal: random.pick(['red', 'green'])}
      case 5:
        return {id: `s${ids++}`, parallel: {a: steps(depth + 1, 2), b: steps(depth + 1, 2)}}
      case 6:
        return {id: `s${ids++}`, for_each: [1, 2, 3], concurrency: random.pick([1, 2]), steps: steps(depth + 1, 2)}
      default:
        return {if: random.pick(['1 < 2', '2 < 1']), then: steps(depth + 1, 2), else: steps(depth + 1, 1)}
    }
  }
  const steps = (depth: number, most: number): WorkflowStep[] =>
    Array.from({length: 1 + random.below(most)}, () => step(depth))
  const all = [record(), ...steps(0, 5), record()]
  if (random.chance(0.3)) all.push({id: 'last', exec: ['false'], retries: 1, initial_backoff: 1})
  const names = all.flatMap(({id}) => id ?? [])
  return stringify({steps: all, output: names.filter((id) => id !== 'last').map((id) => `\${{ str(steps.${id}) }}`)})
}

/** The log of a run without its id: activities and attempts. */
const withoutRun = (lines: readonly string[], runId: string) =>
  lines
    .filter((line) => line.startsWith(`${runId} `))
    .map((line) => line.slice(runId.length + 1).replace(`${runId}/`, ''))

/**
 * Runs random workflows in a process that is killed after random entries of the journals, again and again, and compares
 * each run with an uninterrupted one.
 * @returns the number of kills while runs were open
 */
export async function crashCampaign(
  test: TestContext,
  {seed, workflows, kills}: {seed: number; workflows: number; kills: number},
): Promise<number> {
  const random = seeded(seed)
  const context = await openTestOrchestrator(test, {clock: 'real'})
  const log = join(context.root, 'log')
  const sources = Array.from({length: workflows}, () => randomWorkflow(random, log))
  const started = sources.map((source, i) => {
    const flow = workflow(source, `flow${i}`)
    const {run_id} = createRun(context, flow, {runId: `crashed-${i}`, input: {}})
    signalAll(context, run_id)
    return {flow, runId: run_id}
  })
  const isOpen = () => started.some(({runId}) => ['running', 'waiting'].includes(requireRun(context, runId).status))
  let killed = 0
  for (let i = 0; i < kills && isOpen(); i++) if (await runAndKill(context.root, 2 + random.below(60), isOpen)) killed++
  await runAndKill(context.root, Number.POSITIVE_INFINITY, isOpen)

  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n')
  for (const [i, {flow, runId}] of started.entries()) {
    const referenceId = `whole-${i}`
    createRun(context, flow, {runId: referenceId, input: {}})
    signalAll(context, referenceId)
    const options = {ports: plainPorts, signal: new AbortController().signal, stays: true}
    const whole = await startRun(context, flow, {runId: referenceId, input: {}}, options).done
    const crashed = requireRun(context, runId)
    assert.equal(crashed.status, whole.status, runId)
    assert.deepEqual(withoutTimes(crashed.output_json), withoutTimes(whole.output_json), runId)
    assert.equal(crashed.last_error, whole.last_error, runId)
    assert.deepEqual(completedOf(context, runId), completedOf(context, referenceId), runId)
    assertOncePerCompletion(context, runId, withoutRun(lines, runId))
    if (whole.is_unwinding === 0) assert.ok((await replayRun(context, runId)).reproduced, runId)
  }
  return killed
}

/** More signals than any workflow consumes. */
function signalAll(context: TestOrchestrator, run: string): void {
  const keys = signalKeysOf(definitionOf(requireRun(context, run)))
  for (let i = 0; i < 40; i++)
    for (const key of ['red', 'green']) if (keys.has(key)) sendSignal(context, {run, key, payload: i})
}

/** Timers report how long they waited, and signals in parallel branches are consumed in any order. */
const withoutTimes = (json: string | null) =>
  json
    ?.replaceAll(/\\"waited_ms\\":\d+/g, '')
    .replaceAll(/"\d+"/g, '')
    .replaceAll(/[[,:]\d+(?=[\],}])/g, '')

const completedOf = ({store}: TestOrchestrator, runId: string) =>
  store
    .all<{activity_id: string}>(
      "SELECT activity_id FROM workflow_activity_log WHERE run_id = ? AND status = 'completed' ORDER BY activity_id",
      [runId],
    )
    .map(({activity_id}) => activity_id)

/** No attempt had its effect twice, and none followed the one that completed the activity. */
function assertOncePerCompletion({store}: TestOrchestrator, runId: string, effects: readonly string[]): void {
  assert.equal(new Set(effects).size, effects.length, `${runId}: an attempt was repeated`)
  const completed = new Map(
    store
      .all<{activity_id: string; attempt_no: number}>(
        'SELECT activity_id, attempt_no FROM workflow_activity_log WHERE run_id = ? AND attempt_no IS NOT NULL',
        [runId],
      )
      .map(({activity_id, attempt_no}) => [activity_id, attempt_no]),
  )
  for (const effect of effects) {
    const [activity = '', attempt = ''] = effect.split(' ')
    const last = completed.get(activity)
    assert.ok(last !== undefined && Number(attempt) <= last, `${runId}: ${effect} after attempt ${last}`)
  }
}

/** Lets a process continue the runs, and kills it after some entries. @returns true if it was killed while runs were open */
export async function runAndKill(root: string, entries: number, isOpen: () => boolean): Promise<boolean> {
  let seen = 0
  let wasKilled = false
  const program = startProgram([projectFile('dist/test/workflow/run-in-process.js'), root], {
    hasInput: true,
    onLine(line) {
      if (++seen === entries) {
        wasKilled = isOpen()
        program.kill()
      } else if (/^(ready|Workflow)/.test(line) && !isOpen()) program.endInput()
    },
  })
  const code = await program.exited
  if (code !== 0 && code !== null) throw new Error(`The process ended with ${code}: ${program.stderr()}`)
  return wasKilled
}
