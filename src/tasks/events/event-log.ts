import {setTimeout as sleep} from 'node:timers/promises'
import {withoutNulls} from '../../contracts/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {EventRecord, EventType, OrchestratorEvent} from './event.js'

/** Writes an event in the transaction of the change it describes. Returns its id. */
export function appendEvent({store, repositoryId, now}: WorkspaceContext, event: OrchestratorEvent): number {
  const {type, ...payload} = event
  const {task_id: taskId = null, agent_id: agentId = null} = event as {task_id?: number; agent_id?: number}
  const {lastInsertRowid} = store.run(
    'INSERT INTO orch_events (repository_id, timestamp_ms, type, task_id, agent_id, payload) VALUES (?, ?, ?, ?, ?, ?)',
    [repositoryId, now(), type, taskId, agentId, JSON.stringify(payload)],
  )
  return Number(lastInsertRowid)
}

interface EventRow {
  id: number
  timestamp_ms: number
  type: EventType
  payload: string
  journey_id: string | null
  session_id: string | null
  thread_id: string | null
  trace_id: string | null
  correlation_id: string | null
}

export interface EventFilter {
  /** Only events after this id. */
  since?: number
  types?: readonly string[]
  taskId?: number
  limit?: number
  /** Skips all but the latest of these events, at most this number. Default: skips none. */
  latest?: number
}

/** Maximum number of events per read. */
const pageSize = 1000

const isSelected = `e.id > @since AND e.repository_id = @repository AND (@task IS NULL OR e.task_id = @task)
  AND (@types IS NULL OR e.type IN (SELECT value FROM json_each(@types)))`

/** Events in order, oldest first. */
export function readEvents(
  {store, repositoryId}: WorkspaceContext,
  {since = 0, types = [], taskId, limit = pageSize, latest}: EventFilter = {},
): EventRecord[] {
  const rows = store.all<EventRow>(
    `SELECT e.id, e.timestamp_ms, e.type, e.payload, t.journey_id, t.session_id, t.thread_id, t.trace_id, t.correlation_id
FROM orch_events e LEFT JOIN orch_tasks t ON t.id = e.task_id
WHERE ${isSelected}
  AND (@latest IS NULL OR e.id > coalesce((SELECT e.id FROM orch_events e WHERE ${isSelected}
    ORDER BY e.id DESC LIMIT 1 OFFSET @latest), 0))
ORDER BY e.id LIMIT @limit`,
    {
      since,
      repository: repositoryId,
      task: taskId ?? null,
      types: types.length === 0 ? null : JSON.stringify(types),
      limit,
      latest: latest ?? null,
    },
  )
  return rows.map(toRecord)
}

function toRecord({id, timestamp_ms, type, payload, ...ids}: EventRow): EventRecord {
  const correlation = withoutNulls(ids) as Record<string, string>
  return {
    id,
    timestamp_ms,
    kind: {type, ...JSON.parse(payload)} as OrchestratorEvent,
    ...(Object.keys(correlation).length === 0 ? {} : {correlation}),
  }
}

/** Id of the latest event, or 0. */
export const lastEventId = ({store}: WorkspaceContext): number =>
  store.get<{id: number}>('SELECT coalesce(max(id), 0) AS id FROM orch_events')?.id ?? 0

/**
 * From where a follower of events continues. An id above that of the newest event is from another store, so only new
 * events follow.
 */
export const resumeEvents = ({store}: WorkspaceContext, since: number): number =>
  Math.min(since, store.get<{id: number}>("SELECT seq AS id FROM sqlite_sequence WHERE name = 'orch_events'")?.id ?? 0)

/** Interval between polls for new events, ms. */
const pollMs = 100

/** Yields events after `since` as they are written; ends when the signal aborts. */
export async function* followEvents(
  context: WorkspaceContext,
  filter: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<EventRecord> {
  let since = filter.since === undefined ? lastEventId(context) : resumeEvents(context, filter.since)
  while (!signal.aborted) {
    const last = lastEventId(context)
    const found = since < last ? readEvents(context, {...filter, since}) : []
    for (const event of found) {
      yield event
      since = event.id
    }
    if (found.length > 0) continue
    // All events up to this id have other types.
    since = Math.max(since, last)
    await sleep(pollMs, undefined, {signal}).catch(() => undefined)
  }
}

/** Maximum number of events to examine per prune. */
const pruneSize = 1000
const dayMs = 86_400_000

/** Deletes events older than `days` days, oldest first, a limited number per call. Returns the number deleted. */
export const pruneEvents = ({store, repositoryId, now}: WorkspaceContext, days: number): number =>
  store.run(
    `DELETE FROM orch_events WHERE id IN (SELECT id FROM (
  SELECT id, timestamp_ms FROM orch_events e WHERE repository_id = ?
    AND NOT EXISTS (SELECT 1 FROM orch_awards WHERE event_id = e.id) ORDER BY id LIMIT ?) WHERE timestamp_ms < ? OR timestamp_ms > ?)`,
    // Events dated in the future were written while the clock was wrong, so they are older than their successors.
    [repositoryId, pruneSize, now() - days * dayMs, now() + dayMs],
  ).changes
