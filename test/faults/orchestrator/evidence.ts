import {existsSync} from 'node:fs'
import type {Database} from 'better-sqlite3'
import {readDatabase} from '../../support/sqlite.js'
import {type JournalLine, readJournal} from './journal.js'
import {storeOf} from './workspace.js'

/** A task in the store at the end of a run. */
export interface StoredTask {
  id: number
  idempotency_key: string
  status_reason: string | null
  status: string
  agent_id: number
  priority: number
  complexity: number
  claim_generation: number
}

export interface StoredEvent {
  id: number
  type: string
  task_id: number | null
  /** Set for `task_started`. */
  generation: number | null
  /** Set for `task_requeued`. */
  reason: string | null
}

export interface StoredAgent {
  id: number
  queued_background: number
  queued_normal: number
  queued_urgent: number
  running: number
  doubted: number
  completed: number
  load: number
}

/** The contents of a workspace at the end of a run. */
export interface Traces {
  tasks: readonly StoredTask[]
  dependencies: readonly {task_id: number; depends_on: number}[]
  events: readonly StoredEvent[]
  agents: readonly StoredAgent[]
  journal: readonly JournalLine[]
}

/** The workspace after a run with kills, and the observations of the participating processes. */
export interface Evidence extends Traces {
  /** Ids that submitters printed after their calls had returned. */
  accepted: readonly {key: string; id: number}[]
  /** Number of killed daemons. */
  kills: number
  /** Results of starting two daemons at the same time. */
  contests: readonly Contest[]
  /** Ids of the events that each daemon printed, in order. */
  printed: readonly (readonly number[])[]
  /** Ids of the events that a follower printed during the whole run. */
  followed: readonly number[]
  /** Results of the integrity check after each kill. */
  integrity: readonly string[]
  /** Processes of attempts that were still running after the end. */
  leftover: readonly number[]
}

export interface Contest {
  winners: number
  losers: readonly {exitCode: number | null; code: string}[]
}

export const readStore = <T>(root: string, read: (database: Database) => T): T => readDatabase(storeOf(root), read)

export const checkIntegrity = (root: string): string =>
  existsSync(storeOf(root))
    ? readStore(root, (database) => String(database.pragma('integrity_check', {simple: true})))
    : 'ok'

export function readTraces(root: string): Traces {
  return {
    ...readStore(root, (database) => {
      const all = <Row>(sql: string) => database.prepare<[], Row>(sql).all()
      return {
        tasks: all<StoredTask>(
          'SELECT id, idempotency_key, status, status_reason, agent_id, priority, complexity, claim_generation FROM orch_tasks ORDER BY id',
        ),
        dependencies: all<{task_id: number; depends_on: number}>('SELECT task_id, depends_on FROM orch_dependencies'),
        events: all<StoredEvent>(
          `SELECT id, type, task_id, json_extract(payload, '$.generation') AS generation,
  json_extract(payload, '$.reason') AS reason FROM orch_events ORDER BY id`,
        ),
        agents: all<StoredAgent>(
          'SELECT id, queued_background, queued_normal, queued_urgent, running, doubted, completed, load FROM orch_agents ORDER BY id',
        ),
      }
    }),
    journal: readJournal(root),
  }
}
