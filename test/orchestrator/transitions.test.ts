import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {SvcError} from '../../src/errors/index.js'
import {
  approveTask,
  cancelTask,
  completeTask,
  doubtTask,
  failTask,
  type Orchestrator,
  overruleDoubt,
  reorderTask,
  resolveDoubt,
  retryTask,
  spawnAgent,
  type TaskStatus,
  taskStatuses,
} from '../../src/orchestrator/index.js'
import {moveTask} from '../../src/orchestrator/tasks/status.js'
import {requireRow} from '../../src/orchestrator/tasks/task-rows.js'
import {contents, openTestOrchestrator, refused, type TestOrchestrator} from './support/open-test-orchestrator.js'
import {randomWalk} from './support/random-walk.js'
import {keptCounters, recount} from './support/recount.js'
import {statusOf, taskThatIs} from './support/tasks.js'

/** Where a task may go from each state, besides staying. */
const allowed: Readonly<Record<TaskStatus, string>> = {
  Queued: 'InProgress Doubted Cancelled',
  InProgress: 'Queued Blocked BlockedOnApproval Doubted Completed Failed Cancelled',
  Blocked: 'Queued Doubted Failed Cancelled',
  BlockedOnApproval: 'Queued InProgress Blocked Doubted Failed Cancelled',
  Doubted: 'Queued Blocked BlockedOnApproval Completed Cancelled',
  Completed: '',
  Failed: 'Queued Blocked Cancelled',
  Cancelled: '',
}

/** Does something and takes it back, so that the next try starts from the same state. */
function tentatively(orchestrator: Orchestrator, work: () => void): void {
  const undo = new Error('taken back')
  try {
    orchestrator.store.transaction(() => {
      work()
      throw undo
    })
  } catch (error) {
    if (error !== undo) throw error
  }
}

describe('the states of a task', () => {
  for (const from of taskStatuses)
    it(`${from} goes where it may, and nowhere else`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = taskThatIs(orchestrator, from)
      for (const to of taskStatuses)
        tentatively(orchestrator, () => {
          const row = requireRow(orchestrator, id)
          if (from === to || allowed[from].split(' ').includes(to)) {
            moveTask(orchestrator, row, to)
            assert.equal(requireRow(orchestrator, id).status, to)
            return
          }
          const before = contents(orchestrator)
          const {params} = refused('invalid_transition', () => moveTask(orchestrator, row, to))
          assert.deepEqual([params.from, params.to], [from, to])
          assert.deepEqual(contents(orchestrator), before)
        })
    })
})

const report = {validated: false, report: 'not so'}

/** What a user may ask for, and what becomes of a task in each state: nothing where the state is left out. */
const requests: readonly {
  name: string
  ask: (orchestrator: Orchestrator, id: number) => unknown
  becomes: Partial<Record<TaskStatus, TaskStatus>>
}[] = [
  {name: 'complete', ask: (o, id) => completeTask(o, id, undefined), becomes: {InProgress: 'Completed'}},
  {name: 'fail', ask: (o, id) => failTask(o, id, 'broken'), becomes: {InProgress: 'Failed'}},
  {
    name: 'cancel',
    ask: (o, id) => cancelTask(o, id),
    becomes: {
      Queued: 'Cancelled',
      InProgress: 'Cancelled',
      Blocked: 'Cancelled',
      BlockedOnApproval: 'Cancelled',
      Doubted: 'Cancelled',
      Failed: 'Cancelled',
      Cancelled: 'Cancelled',
    },
  },
  {
    name: 'doubt',
    ask: (o, id) => doubtTask(o, id, 'unclear'),
    becomes: {
      Queued: 'Doubted',
      InProgress: 'Doubted',
      Blocked: 'Doubted',
      BlockedOnApproval: 'Doubted',
      Doubted: 'Doubted',
    },
  },
  {name: 'resolve', ask: (o, id) => resolveDoubt(o, id, report), becomes: {Doubted: 'Queued'}},
  {name: 'overrule', ask: (o, id) => overruleDoubt(o, id), becomes: {Doubted: 'Completed'}},
  {name: 'retry', ask: (o, id) => retryTask(o, id), becomes: {Failed: 'Queued'}},
  {name: 'approve', ask: (o, id) => approveTask(o, id), becomes: {BlockedOnApproval: 'Queued'}},
  {
    name: 'reorder',
    ask: (o, id) => reorderTask(o, id, 'urgent'),
    becomes: {Queued: 'Queued', Blocked: 'Blocked', BlockedOnApproval: 'BlockedOnApproval'},
  },
]

describe('what a user asks of a task', () => {
  for (const {name, ask, becomes} of requests)
    it(`${name}: works in the states where it means something, and changes nothing in the others`, async (t) => {
      for (const from of taskStatuses) {
        const orchestrator = await openTestOrchestrator(t)
        const id = taskThatIs(orchestrator, from)
        const to = becomes[from]
        if (to === undefined) {
          const before = contents(orchestrator)
          refused('invalid_transition', () => ask(orchestrator, id))
          assert.deepEqual(contents(orchestrator), before)
        } else {
          ask(orchestrator, id)
          assert.equal(statusOf(orchestrator, id), to, `from ${from}`)
        }
      }
    })

  it('of one that is not there is not found', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const {ask} of requests) refused('task_not_found', () => ask(orchestrator, 1))
    assert.ok(SvcError.from(refused('task_not_found', () => cancelTask(orchestrator, 7))).message.includes('T-0007'))
  })
})

/** What must hold after every step, each told by the first row that breaks it. */
const invariants: readonly {name: string; broken: (orchestrator: TestOrchestrator) => unknown}[] = [
  {
    name: 'counts for each agent what it has',
    broken(orchestrator) {
      const kept = keptCounters(orchestrator)
      const counted = recount(orchestrator)
      const place = kept.findIndex((row, i) => JSON.stringify(row) !== JSON.stringify(counted[i]))
      return place < 0 ? undefined : {kept: kept[place], counted: counted[place]}
    },
  },
  rule(
    'leaves no waiting task with an agent that is gone, or that runs none',
    `SELECT t.id, t.status, a.name, a.state FROM orch_tasks t JOIN orch_agents a ON a.id = t.agent_id
WHERE t.status IN ('Queued', 'InProgress', 'Blocked', 'BlockedOnApproval')
  AND (a.state = 'retired' OR a.kind = 'resolution')`,
  ),
  rule(
    'knows what each task waits for',
    `SELECT t.id, t.status, t.unmet_dependencies AS kept, t.blocked_on, count(d.depends_on) AS counted
FROM orch_tasks t LEFT JOIN orch_dependencies d ON d.task_id = t.id AND d.is_met = 0
WHERE t.status IN ('Queued', 'InProgress', 'Blocked', 'BlockedOnApproval', 'Doubted') GROUP BY t.id
HAVING counted <> kept OR (t.status = 'Queued' AND kept > 0) OR (t.status = 'Blocked' AND kept = 0)`,
  ),
  rule(
    'says of each blocked task what it waits for',
    `SELECT t.id, t.blocked_on FROM orch_tasks t WHERE t.status = 'Blocked' AND NOT EXISTS
  (SELECT 1 FROM orch_dependencies d WHERE d.task_id = t.id AND d.depends_on = t.blocked_on AND d.is_met = 0)`,
  ),
  rule(
    'lets no task wait for one that will never be completed',
    `SELECT t.id, t.status, p.id AS dependency, p.status AS is_now FROM orch_tasks t
JOIN orch_dependencies d ON d.task_id = t.id AND d.is_met = 0 JOIN orch_tasks p ON p.id = d.depends_on
WHERE t.status IN ('Blocked', 'BlockedOnApproval') AND p.status IN ('Failed', 'Cancelled')`,
  ),
  rule(
    'starts nothing whose dependencies are not completed',
    `SELECT t.id, p.id AS dependency, p.status FROM orch_tasks t JOIN orch_dependencies d ON d.task_id = t.id
JOIN orch_tasks p ON p.id = d.depends_on WHERE t.status IN ('Queued', 'InProgress') AND p.status <> 'Completed'`,
  ),
  rule(
    'keeps locks for tasks that wait or run, with the agent that has the task',
    `SELECT l.path, t.id, t.status, l.agent_id AS holder, t.agent_id FROM orch_locks l JOIN orch_tasks t ON t.id = l.task_id
WHERE t.status NOT IN ('Queued', 'InProgress') OR l.agent_id <> t.agent_id`,
  ),
  rule(
    'never runs two tasks on a file that one of them writes',
    `SELECT f.value ->> 'path' AS path, t.id, u.id AS other FROM orch_tasks t JOIN json_each(t.file_manifest) f
JOIN orch_tasks u ON u.id > t.id AND u.status = 'InProgress' JOIN json_each(u.file_manifest) g
  ON g.value ->> 'path' = f.value ->> 'path'
WHERE t.status = 'InProgress' AND (f.value ->> 'access' = 'write' OR g.value ->> 'access' = 'write')`,
  ),
  rule(
    'keeps no two waiting tasks of different agents from each other',
    `SELECT l.path, l.task_id, m.task_id AS other FROM orch_locks l JOIN orch_locks m
  ON m.repository_id = l.repository_id AND m.path = l.path AND m.agent_id > l.agent_id
JOIN orch_tasks t ON t.id = l.task_id AND t.status = 'Queued' JOIN orch_tasks u ON u.id = m.task_id AND u.status = 'Queued'
WHERE (l.access = 'write' OR m.access = 'write') AND min(l.acquired_at_ms, m.acquired_at_ms) >= ? - 30000`,
  ),
  rule(
    'keeps claims for tasks that run',
    "SELECT id, status, claim_owner FROM orch_tasks WHERE claim_owner IS NOT NULL AND status <> 'InProgress'",
  ),
]

function rule(name: string, sql: string) {
  const moments = sql.includes('?')
  return {name, broken: ({store, clock}: TestOrchestrator) => store.get<object>(sql, moments ? [clock.ms] : [])}
}

const settings = `[orchestrator]
max_agents = 6
scaling_enabled = true
scaling_threshold = 3
scaling_cooldown_ms = 1000
idle_retirement_ms = 20000
`

/** Walks at random and notes, for each invariant, the first step that broke it. */
async function walkOnce(t: TestContext, seed: number) {
  const orchestrator = await openTestOrchestrator(t, {toml: settings})
  for (const name of ['agent-0', 'agent-1', 'agent-2']) spawnAgent(orchestrator, {name})
  const faults = new Map<string, string>()
  const done = new Map<string, number>()
  let count = 0
  for (const step of randomWalk(orchestrator, 3000, seed)) {
    count++
    if (step.refused === undefined) done.set(step.name, (done.get(step.name) ?? 0) + 1)
    for (const {name, broken} of invariants) {
      if (faults.has(name)) continue
      const row = broken(orchestrator)
      if (row !== undefined) faults.set(name, `step ${count} (${step.name}) of seed ${seed}: ${JSON.stringify(row)}`)
    }
  }
  return {faults, done}
}

describe('a workspace in which everything happens at once', () => {
  let walks: Promise<Awaited<ReturnType<typeof walkOnce>>[]> | undefined
  const walk = (t: TestContext) => {
    walks ??= Promise.all([1, 2].map((seed) => walkOnce(t, seed)))
    return walks
  }

  it('is put through all that can happen', async (t) => {
    for (const {done} of await walk(t)) {
      assert.equal(done.size, 24, [...done.keys()].join())
      for (const [name, times] of done) assert.ok(times >= 3, `${name}: ${times}`)
    }
  })

  for (const {name} of invariants)
    it(name, async (t) => {
      for (const {faults} of await walk(t)) assert.equal(faults.get(name), undefined)
    })
})
