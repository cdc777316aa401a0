import type {TestContext} from 'node:test'
import {spawnAgent} from '../../../src/orchestrator/index.js'
import {openTestOrchestrator, type TestOrchestrator} from './open-test-orchestrator.js'
import {WorkspaceWalk} from './random-walk.js'
import {keptCounters, recount} from './recount.js'

/** Conditions that must hold after every step. `broken` returns the first row that violates one. */
export const invariants: readonly {name: string; broken: (orchestrator: TestOrchestrator) => unknown}[] = [
  {
    name: 'counts the tasks of each agent correctly',
    broken(orchestrator) {
      const kept = keptCounters(orchestrator)
      const counted = recount(orchestrator)
      const place = kept.findIndex((row, i) => JSON.stringify(row) !== JSON.stringify(counted[i]))
      return place < 0 ? undefined : {kept: kept[place], counted: counted[place]}
    },
  },
  rule(
    'leaves no open task with a retired agent or an agent that runs no tasks',
    `SELECT t.id, t.status, a.name, a.state FROM orch_tasks t JOIN orch_agents a ON a.id = t.agent_id
WHERE t.status IN ('Queued', 'InProgress', 'Blocked', 'BlockedOnApproval')
  AND (a.state = 'retired' OR a.kind = 'resolution')`,
  ),
  rule(
    'counts the unmet dependencies of each task correctly',
    `SELECT t.id, t.status, t.unmet_dependencies AS kept, t.blocked_on, count(d.depends_on) AS counted
FROM orch_tasks t LEFT JOIN orch_dependencies d ON d.task_id = t.id AND d.is_met = 0
WHERE t.status IN ('Queued', 'InProgress', 'Blocked', 'BlockedOnApproval', 'Doubted') GROUP BY t.id
HAVING counted <> kept OR (t.status = 'Queued' AND kept > 0) OR (t.status = 'Blocked' AND kept = 0)`,
  ),
  rule(
    'names an unmet dependency of each blocked task',
    `SELECT t.id, t.blocked_on FROM orch_tasks t WHERE t.status = 'Blocked' AND NOT EXISTS
  (SELECT 1 FROM orch_dependencies d WHERE d.task_id = t.id AND d.depends_on = t.blocked_on AND d.is_met = 0)`,
  ),
  rule(
    'blocks no task on a failed or cancelled one',
    `SELECT t.id, t.status, p.id AS dependency, p.status AS is_now FROM orch_tasks t
JOIN orch_dependencies d ON d.task_id = t.id AND d.is_met = 0 JOIN orch_tasks p ON p.id = d.depends_on
WHERE t.status IN ('Blocked', 'BlockedOnApproval') AND p.status IN ('Failed', 'Cancelled')`,
  ),
  rule(
    'queues and starts only tasks whose dependencies have completed',
    `SELECT t.id, p.id AS dependency, p.status FROM orch_tasks t JOIN orch_dependencies d ON d.task_id = t.id
JOIN orch_tasks p ON p.id = d.depends_on WHERE t.status IN ('Queued', 'InProgress') AND p.status <> 'Completed'
  AND NOT EXISTS (SELECT 1 FROM orch_events e WHERE e.task_id = p.id AND e.type = 'task_completed')`,
  ),
  rule(
    'keeps locks only for queued and running tasks, under the agent of the task',
    `SELECT l.path, t.id, t.status, l.agent_id AS holder, t.agent_id FROM orch_locks l JOIN orch_tasks t ON t.id = l.task_id
WHERE t.status NOT IN ('Queued', 'InProgress') OR l.agent_id <> t.agent_id`,
  ),
  rule(
    'never runs two tasks on a file if one of them writes it',
    `SELECT f.value ->> 'path' AS path, t.id, u.id AS other FROM orch_tasks t JOIN json_each(t.file_manifest) f
JOIN orch_tasks u ON u.id > t.id AND u.status = 'InProgress' JOIN json_each(u.file_manifest) g
  ON g.value ->> 'path' = f.value ->> 'path'
WHERE t.status = 'InProgress' AND (f.value ->> 'access' = 'write' OR g.value ->> 'access' = 'write')`,
  ),
  rule(
    'has no conflicting fresh locks of queued tasks of different agents',
    `SELECT l.path, l.task_id, m.task_id AS other FROM orch_locks l JOIN orch_locks m
  ON m.repository_id = l.repository_id AND m.path = l.path AND m.agent_id > l.agent_id
JOIN orch_tasks t ON t.id = l.task_id AND t.status = 'Queued' JOIN orch_tasks u ON u.id = m.task_id AND u.status = 'Queued'
WHERE (l.access = 'write' OR m.access = 'write') AND min(l.acquired_at_ms, m.acquired_at_ms) >= ? - 30000`,
  ),
  rule(
    'keeps claims only for running tasks',
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

/** Performs random steps and records, for each invariant, the first step that violates it. */
export async function walkWorkspace(t: TestContext, seed: number, steps: number) {
  const orchestrator = await openTestOrchestrator(t, {toml: settings})
  for (const name of ['agent-0', 'agent-1', 'agent-2']) spawnAgent(orchestrator, {name})
  const faults = new Map<string, string>()
  const done = new Map<string, number>()
  const walk = new WorkspaceWalk(orchestrator, seed)
  for (let count = 1; count <= steps; count++) {
    const step = await walk.step()
    if (!step.isRefused) done.set(step.name, (done.get(step.name) ?? 0) + 1)
    for (const {name, broken} of invariants) {
      if (faults.has(name)) continue
      const row = broken(orchestrator)
      if (row !== undefined) faults.set(name, `step ${count} (${step.name}) of seed ${seed}: ${JSON.stringify(row)}`)
    }
  }
  return {faults, done}
}
