import assert from 'node:assert/strict'
import type {TestContext} from 'node:test'
import {stringify} from 'yaml'
import type {WorkflowStep} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {failTask, takeClaim} from '../../src/tasks/index.js'
import {createRun} from '../../src/workflow/engine/index.js'
import {canResume, requestCancel, requireRun} from '../../src/workflow/store/runs.js'
import {openTestOrchestrator, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask} from '../orchestrator/support/tasks.js'
import {type Random, seeded} from '../support/random.js'
import {runAndKill} from './crash-campaign.js'
import {workflow} from './support.js'

/** A workflow of tasks with time limits and retries, alone, in parallel and in loops; some have a step that fails. */
function randomWorkflow(random: Random): string {
  let ids = 0
  const task = (): WorkflowStep => ({
    id: `t${ids++}`,
    task: {description: 'work', processor: 'external', retries: random.pick([0, 1])},
    // The worker takes only some tasks, so the others need a limit.
    timeout: 20 + random.below(300),
    retries: random.pick([0, 1, 2]),
    initial_backoff: 1,
    continue_on_error: random.chance(0.6),
    ...(random.chance(0.3) ? {compensate: {task: 'undo', timeout: 100, retries: 1, initial_backoff: 1}} : {}),
  })
  const steps = (depth: number): WorkflowStep[] => Array.from({length: 1 + random.below(2)}, () => step(depth))
  const step = (depth: number): WorkflowStep => {
    const kind = random.below(depth > 1 ? 3 : 5)
    if (kind < 2) return task()
    if (kind === 2) return {timer: random.below(50)}
    if (kind === 3) return {parallel: {a: steps(depth + 1), b: [...steps(depth + 1), ...failing(random)]}}
    return {for_each: [1, 2], concurrency: 2, steps: steps(depth + 1)}
  }
  return stringify({steps: [...steps(0), ...failing(random)]})
}

const failing = (random: Random): WorkflowStep[] => (random.chance(0.3) ? [{exec: ['false']}] : [])

/** The part of an idempotency key that names the run and the activity: without the attempt. */
const stepOf = (row: string) => `rtrim(rtrim(${row}.idempotency_key, '0123456789'), ':')`

/** Records each moment at which a step has two unfinished tasks, or a run that has ended has one, in any process. */
const watch = [
  'CREATE TABLE violations (what TEXT NOT NULL)',
  `CREATE TRIGGER two_tasks AFTER INSERT ON orch_tasks WHEN EXISTS (
  SELECT 1 FROM orch_tasks AS t WHERE t.id <> new.id AND ${stepOf('t')} = ${stepOf('new')}
    AND t.status NOT IN ('Completed', 'Failed', 'Cancelled'))
BEGIN INSERT INTO violations VALUES ('two tasks: ' || new.idempotency_key); END`,
  `CREATE TRIGGER late_task AFTER INSERT ON orch_tasks WHEN EXISTS (
  SELECT 1 FROM workflow_run_log AS r WHERE r.status IN ('completed', 'failed', 'cancelled')
    AND new.idempotency_key LIKE 'workflow:' || r.run_id || ':%')
BEGIN INSERT INTO violations VALUES ('after the end: ' || new.idempotency_key); END`,
]

const unfinishedOfEnded = `SELECT t.idempotency_key FROM orch_tasks AS t JOIN workflow_run_log AS r
  ON t.idempotency_key LIKE 'workflow:' || r.run_id || ':%'
WHERE r.status IN ('completed', 'failed', 'cancelled') AND t.status NOT IN ('Completed', 'Failed', 'Cancelled')`

/** Part of the runs that are cancelled in each turn of the worker: a run takes a few hundred turns. */
const cancelShare = 0.001

/**
 * Runs random workflows of tasks in a process that is killed again and again. Meanwhile, a worker completes, fails or
 * abandons tasks, some runs are cancelled, and failed ones are resumed.
 */
export async function taskCampaign(
  test: TestContext,
  {seed, workflows, kills}: {seed: number; workflows: number; kills: number},
): Promise<void> {
  const random = seeded(seed)
  const context = await openTestOrchestrator(test, {clock: 'real'})
  for (const sql of watch) context.store.run(sql)
  const runs = Array.from(
    {length: workflows},
    (_, i) => createRun(context, workflow(randomWorkflow(random), `flow${i}`), {runId: `r${i}`, input: {}}).run_id,
  )
  const isOpen = () =>
    context.store.get("SELECT 1 FROM workflow_run_log WHERE status IN ('running', 'waiting') LIMIT 1") !== undefined
  const check = () => {
    assert.deepEqual(context.store.all(unfinishedOfEnded), [], `seed ${seed}`)
    assert.deepEqual(context.store.all('SELECT what FROM violations'), [], `seed ${seed}`)
  }
  const resumed = new Set<string>()
  let resumes = true
  const worker = setInterval(() => {
    work(context, random)
    if (random.chance(workflows * cancelShare)) requestCancel(context, random.pick(runs))
    const run = random.pick(runs)
    if (resumes && !resumed.has(run) && canResume(requireRun(context, run))) {
      resumed.add(run)
      resume(context, run)
    }
    check()
  }, 10)
  test.after(() => clearInterval(worker))
  try {
    for (let i = 0; i < kills && isOpen(); i++)
      await runAndKill(context.root, 20 + random.below(20 * workflows), isOpen)
    resumes = false
    await runAndKill(context.root, Number.POSITIVE_INFINITY, isOpen)
  } finally {
    clearInterval(worker)
  }
  check()
  assert.ok(!isOpen(), `seed ${seed}: a run has not ended`)
  const withdrawn = context.store.get("SELECT 1 FROM orch_tasks WHERE status_reason LIKE 'withdrawn: %'")
  assert.notEqual(withdrawn, undefined, `seed ${seed}: no task was withdrawn`)
}

/** Leaves a failed run like a process that has resumed it and was killed at once. */
const resume = ({store}: TestOrchestrator, run: string) =>
  store.run("UPDATE workflow_run_log SET status = 'running', completed_at_ms = NULL WHERE run_id = ?", [run])

/** Claims a task and completes it, fails it, or leaves it. */
function work(context: TestOrchestrator, random: Random): void {
  const fate = random.next()
  try {
    context.store.transaction(() => {
      const {task, generation} = takeClaim(context, {owner: 'worker', ttlMs: 200})
      if (fate < 0.5) acceptTask(context, task.id, {text: 'done'}, {generation})
      else if (fate < 0.7) failTask(context, task.id, 'broken', {generation})
    })
  } catch (error) {
    if (!isErrorOf(error, 'no_task_to_claim')) throw error
  }
}
