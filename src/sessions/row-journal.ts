import {SvcError} from '../errors/index.js'
import {fragment, type Store} from '../store/index.js'
import type {SessionEvent} from './event.js'
import type {JournalEntry, SessionJournal} from './journal.js'

/**
 * The tables of sessions. A row of `agent_sessions` summarises a session for readers of the table. The events, ordered
 * by id, are the source of truth. A removed session keeps its rows and has an `ended_at`.
 */
export const sessionFragment = fragment(
  'sessions',
  `
CREATE TABLE agent_sessions (
  id TEXT PRIMARY KEY,
  repository_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  tenant_id TEXT,
  agent_name TEXT,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  status TEXT NOT NULL DEFAULT 'active',
  task_snapshot TEXT,
  context_summary TEXT
) STRICT;
CREATE INDEX agent_sessions_kept ON agent_sessions (repository_id) WHERE ended_at IS NULL;

CREATE TABLE agent_session_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_session_events_session ON agent_session_events (session_id, id);
`,
)

const kept = 'id = ? AND repository_id = ? AND ended_at IS NULL'

/** Sessions of a repository in a store with `sessionFragment`. */
export function rowJournal(store: Store, repositoryId: string): SessionJournal {
  const isKept = (id: string) =>
    store.get(`SELECT 1 FROM agent_sessions WHERE ${kept}`, [id, repositoryId]) !== undefined
  const insertEvent = (id: string, event: SessionEvent) =>
    store.run(
      'INSERT INTO agent_session_events (session_id, event_type, payload_json, created_at_ms) VALUES (?, ?, ?, ?)',
      [id, event.event, JSON.stringify(event), Math.round(1000 * timeOf(event))],
    )
  return {
    list: () =>
      store
        .all<{id: string}>('SELECT id FROM agent_sessions WHERE repository_id = ? AND ended_at IS NULL', [repositoryId])
        .map(({id}) => id),
    load: (id, from = 0) =>
      isKept(id)
        ? store.all<JournalEntry>(
            'SELECT id AS at, payload_json AS text FROM agent_session_events WHERE session_id = ? AND id >= ? ORDER BY id',
            [id, from],
          )
        : undefined,
    open: (id, event, session) =>
      store.transaction(() => {
        const {changes} = store.run(
          `INSERT INTO agent_sessions (id, repository_id, agent_id, tenant_id, started_at, status)
VALUES (?, ?, ?, ?, datetime(?, 'unixepoch'), ?) ON CONFLICT (id) DO NOTHING`,
          [id, repositoryId, session.agent_id, session.tenant_id, session.created_at, session.state],
        )
        if (changes === 0) return false
        insertEvent(id, event)
        return true
      }),
    append: (id, event, session) =>
      store.transaction(() => {
        const {changes} = store.run(`UPDATE agent_sessions SET status = ? WHERE ${kept}`, [
          session.state,
          id,
          repositoryId,
        ])
        if (changes === 0) throw new SvcError('session_not_found', {id})
        insertEvent(id, event)
        const summary = summaryAfter(event)
        if (summary !== undefined)
          store.run('UPDATE agent_sessions SET context_summary = ? WHERE id = ?', [summary, id])
      }),
    remove(id, at) {
      store.run(`UPDATE agent_sessions SET status = 'archived', ended_at = datetime(?, 'unixepoch') WHERE ${kept}`, [
        at,
        id,
        repositoryId,
      ])
    },
    atomically: (work) => store.transaction(work),
    place: (_id, at) => `event ${at} of ${store.path}`,
  }
}

const timeOf = (event: SessionEvent) => (event.event === 'created' ? event.created_at : event.at)

/** The summary of earlier turns after an event; undefined if the event does not change it. */
function summaryAfter(event: SessionEvent): string | null | undefined {
  if (event.event === 'compacted') return event.summary
  return event.event === 'reset' ? null : undefined
}
