import type {Orchestrator} from '../../../src/orchestrator/index.js'
import {verifyTask} from '../../../src/tasks/index.js'

/** The counter of each gate. */
const counterOf: Readonly<Record<string, Counter>> = {
  behavioral: 'debug_iterations',
  research: 'debug_iterations',
  approval: 'debug_iterations',
  harness: 'debug_iterations',
  links: 'debug_iterations',
  trust: 'toestub_iterations',
  toestub: 'toestub_iterations',
  grounding: 'socrates_iterations',
  socrates: 'socrates_iterations',
}

type Counter = 'debug_iterations' | 'toestub_iterations' | 'socrates_iterations'
const counters = ['debug_iterations', 'toestub_iterations', 'socrates_iterations'] as const

interface Row extends Record<Counter, number> {
  id: number
  status: string
  status_reason: string | null
  receipt: string | null
  outcome: string | null
}

interface EventRow {
  task_id: number
  type: string
  outcome: string | null
  gate: string | null
  reason: string | null
}

/** Violations of what must hold for the tasks of a workspace with gates, after any step. */
export function gateFaults({store, config, repositoryId}: Orchestrator): string[] {
  const [tasks, events, strays] = store.transaction(() => [
    store.all<Row>(
      `SELECT t.id, t.status, t.status_reason, t.receipt, t.debug_iterations, t.toestub_iterations, t.socrates_iterations,
  e.evaluation ->> 'outcome' AS outcome
FROM orch_tasks t LEFT JOIN orch_task_evidence e ON e.task_id = t.id WHERE t.repository_id = ?`,
      [repositoryId],
    ),
    store.all<EventRow>(
      `SELECT task_id, type, payload ->> 'outcome' AS outcome, payload ->> 'gate' AS gate, payload ->> 'reason' AS reason
FROM orch_events WHERE type IN ('task_gated', 'task_requeued', 'task_completed', 'task_failed', 'task_doubted')
  AND task_id IS NOT NULL ORDER BY id`,
    ),
    store.all<{task_id: number}>(
      'SELECT task_id FROM orch_task_evidence WHERE task_id NOT IN (SELECT id FROM orch_tasks)',
    ),
  ])
  const capOf: Readonly<Record<Counter, number>> = {
    debug_iterations: config.maxDebugIterations,
    toestub_iterations: config.maxToestubDebugIterations,
    socrates_iterations: config.maxSocratesDebugIterations,
  }
  const eventsOf = new Map(tasks.map(({id}): [number, EventRow[]] => [id, []]))
  for (const event of events) eventsOf.get(event.task_id)?.push(event)
  return [
    ...strays.map(({task_id: id}) => `there is evidence for task ${id}, which does not exist`),
    ...tasks.flatMap((task) => taskFaults(task, eventsOf.get(task.id) ?? [], capOf)),
  ]
}

function taskFaults(task: Row, events: readonly EventRow[], capOf: Readonly<Record<Counter, number>>): string[] {
  const {id, status, status_reason: reason, receipt} = task
  const faults: string[] = []
  const expect = (holds: boolean, what: string) => {
    if (!holds) faults.push(`task ${id} (${status}): ${what}; ${JSON.stringify(task)} ${JSON.stringify(events)}`)
  }
  const requeued = events.filter(({type, outcome}) => type === 'task_gated' && outcome === 'requeued')
  // A retry starts the counters again.
  const attempt = events.slice(events.findLastIndex(({reason: cause}) => cause === 'retry') + 1)
  for (const counter of counters) {
    const count = requeued
      .filter((event) => attempt.includes(event))
      .filter(({gate}) => counterOf[gate ?? ''] === counter).length
    expect(task[counter] === count, `${counter} should be ${count}`)
    expect(task[counter] <= capOf[counter], `${counter} exceeds its maximum of ${capOf[counter]}`)
  }
  const reasons = events.flatMap((event) => (event.reason?.startsWith('gate:') ? event.reason : []))
  const gates = requeued.map(({gate}) => `gate:${gate}`)
  expect(reasons.join() === gates.join(), `its requeues ${reasons} do not match its refusals ${gates}`)

  const exhausted = /^gate_exhausted:(.*)$/.exec(reason ?? '')?.[1]
  if (status === 'Failed' && exhausted !== undefined) {
    const counter = counterOf[exhausted]
    expect(counter !== undefined && task[counter] === capOf[counter], 'it failed before its last iteration')
    expect(task.outcome === 'failed', 'its evaluation should be failed')
  }
  const count = (wanted: string) => events.filter(({type}) => type === wanted).length
  expect(count('task_completed') <= 1 + count('task_doubted'), 'it was completed more than once')
  if (status === 'Completed') {
    expect(count('task_completed') > 0, 'it has no task_completed event')
    expect(receipt !== null || count('task_doubted') > 0, 'it has no receipt')
    expect(receipt === null || [null, 'completed'].includes(task.outcome), 'its evaluation should be completed')
  } else expect(receipt === null || status === 'Doubted', 'it has a receipt')
  return faults
}

/** Ids of completed tasks whose receipt is not valid. */
export async function invalidReceipts(orchestrator: Orchestrator): Promise<number[]> {
  const rows = orchestrator.store.all<{id: number}>(
    "SELECT id FROM orch_tasks WHERE repository_id = ? AND status = 'Completed' AND receipt IS NOT NULL",
    [orchestrator.repositoryId],
  )
  const invalid: number[] = []
  for (const {id} of rows) if (!(await verifyTask(orchestrator, id)).valid) invalid.push(id)
  return invalid
}
