import {fragment, type Store} from '../../store/index.js'
import type {Envelope} from '../envelope.js'

/**
 * Tool calls that run in the background. `owner` is the process that runs the call. Times are Unix milliseconds; JSON
 * columns hold objects.
 */
export const callFragment = fragment(
  'mcp_calls',
  `
CREATE TABLE mcp_calls (
  id TEXT PRIMARY KEY,
  repository_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('working', 'completed', 'failed', 'cancelled')),
  outcome TEXT,
  owner TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 1,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  ttl_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mcp_calls_of ON mcp_calls (repository_id, created_at_ms);
`,
)

/** Maximum number of calls of a workspace. */
export const maxCalls = 1000

/** Where the calls of a workspace are stored. */
export interface CallPlace {
  readonly store: Store
  readonly repositoryId: string
  readonly now: () => number
}

export interface CallRow {
  id: string
  tool: string
  arguments: string
  status: 'working' | 'completed' | 'failed' | 'cancelled'
  outcome: string | null
  owner: string
  attempts: number
  created_at_ms: number
  updated_at_ms: number
  ttl_ms: number
}

const select = `SELECT id, tool, arguments, status, outcome, owner, attempts, created_at_ms, updated_at_ms, ttl_ms FROM mcp_calls
WHERE repository_id = @repository`

type NewCall = Pick<CallRow, 'id' | 'tool' | 'arguments' | 'owner' | 'ttl_ms'>

/** Inserts a call, and deletes those that have expired. @returns false if the limit is reached */
export function insertCall({store, repositoryId: repository, now}: CallPlace, call: NewCall): boolean {
  return store.transaction(() => {
    const nowMs = now()
    store.run('DELETE FROM mcp_calls WHERE repository_id = ? AND created_at_ms + ttl_ms <= ?', [repository, nowMs])
    // The oldest finished call makes room.
    store.run(
      `DELETE FROM mcp_calls WHERE id IN (SELECT id FROM mcp_calls WHERE repository_id = @repository AND status <> 'working'
  ORDER BY created_at_ms LIMIT max(0, (SELECT count(*) FROM mcp_calls WHERE repository_id = @repository) - @max + 1))`,
      {repository, max: maxCalls},
    )
    const {changes} = store.run(
      `INSERT INTO mcp_calls (id, repository_id, tool, arguments, status, owner, created_at_ms, updated_at_ms, ttl_ms)
SELECT @id, @repository, @tool, @arguments, 'working', @owner, @now, @now, @ttl_ms
WHERE (SELECT count(*) FROM mcp_calls WHERE repository_id = @repository) < @max`,
      {...call, repository, now: nowMs, max: maxCalls},
    )
    return changes === 1
  })
}

/** The call with this id; undefined if it does not exist or has expired. */
export const callRow = ({store, repositoryId: repository, now}: CallPlace, id: string): CallRow | undefined =>
  store.get<CallRow>(`${select} AND id = @id AND created_at_ms + ttl_ms > @now`, {repository, id, now: now()})

/** A page of the calls, newest first. */
export const callRows = (
  {store, repositoryId: repository, now}: CallPlace,
  page: {limit: number; offset: number},
): CallRow[] =>
  store.all<CallRow>(
    `${select} AND created_at_ms + ttl_ms > @now ORDER BY created_at_ms DESC, id LIMIT @limit OFFSET @offset`,
    {repository, now: now(), ...page},
  )

/** Records the end of a call. @returns false if it had already ended, or another process has taken it over */
export function endCall(
  {store, now}: CallPlace,
  {id, owner}: Pick<CallRow, 'id' | 'owner'>,
  end: {status: 'completed' | 'failed' | 'cancelled'; outcome: Envelope},
): boolean {
  const {changes} = store.run(
    `UPDATE mcp_calls SET status = @status, outcome = @outcome, updated_at_ms = @now
WHERE id = @id AND status = 'working' AND owner = @owner`,
    {id, owner, status: end.status, outcome: JSON.stringify(end.outcome), now: now()},
  )
  return changes === 1
}

/** Makes this process the owner of a call whose owner has ended. @returns false if another process was faster */
export function takeOverCall({store, now}: CallPlace, {id, owner, attempts}: CallRow, by: string): boolean {
  const {changes} = store.run(
    `UPDATE mcp_calls SET owner = @by, attempts = attempts + 1, updated_at_ms = @now
WHERE id = @id AND status = 'working' AND owner = @owner AND attempts = @attempts`,
    {id, owner, attempts, by, now: now()},
  )
  return changes === 1
}
