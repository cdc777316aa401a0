import {existsSync} from 'node:fs'
import type {Database} from 'better-sqlite3'
import {Driver} from '../../support/sqlite.js'
import {type JournalLine, readJournal} from './journal.js'
import {storeOf} from './workspace.js'

/** A task as the store has it at the end. */
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
  /** Of a start. */
  generation: number | null
  /** Of a task that was queued again. */
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

/** What a workspace itself shows once everything is over. */
export interface Traces {
  tasks: readonly StoredTask[]
  dependencies: readonly {task_id: number; depends_on: number}[]
  events: readonly StoredEvent[]
  agents: readonly StoredAgent[]
  journal: readonly JournalLine[]
}

/** What happened in a run with kills, as those saw it who took part. */
export interface Evidence extends Traces {
  /** Ids that submitters printed, each once its call had returned. */
  accepted: readonly {key: string; id: number}[]
  /** Daemons that were killed. */
  kills: number
  /** What became of two daemons that were started at the same moment. */
  contests: readonly Contest[]
  /** Ids of the events that each daemon printed, in the order of its lines. */
  printed: readonly (readonly number[])[]
  /** Ids of the events that one follower saw from the beginning to the end. */
  followed: readonly number[]
  /** Answers of integrity checks, one after each kill. */
  integrity: readonly string[]
  /** Processes of attempts that were there after the end. */
  leftover: readonly number[]
}

export interface Contest {
  winners: number
  losers: readonly {exitCode: number | null; code: string}[]
}

/** Opens the store as a stranger would: with SQL of its own, only to read. */
export function readStore<T>(root: string, read: (database: Database) => T): T {
  const database = new Driver(storeOf(root), {readonly: true, timeout: 20_000})
  try {
    return read(database)
  } finally {
    database.close()
  }
}

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
