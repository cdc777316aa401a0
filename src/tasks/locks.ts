import type {ManifestEntry} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import {appendEvent} from './events/event-log.js'

/** A locked file and the agent that holds it. */
export interface LockConflict {
  path: string
  agent_name: string
  kind: 'exclusively_held' | 'shared_readers_exist'
}

interface Wanted {
  taskId: number
  agentId: number
  files: readonly ManifestEntry[]
  /** A waiting task reserves its files for its agent; a running task holds them itself. */
  purpose: 'reserve' | 'run'
}

/**
 * Locks the files of a task, all or none: a writer excludes every other agent, readers share. The waiting tasks of one
 * agent never conflict, since it runs one at a time; a running task conflicts with all others. A reservation expires
 * after `lock_timeout_ms`: the files are then locked when the task runs, if they are free.
 * @returns the first conflict, in which case nothing was locked
 */
export function takeLocks(context: WorkspaceContext, wanted: Wanted): LockConflict | undefined {
  const {taskId, agentId, files, purpose} = wanted
  if (files.length === 0) return undefined
  const {store, repositoryId, now, config} = context
  const stale = now() - config.lockTimeoutMs
  for (const {path, access} of files) {
    const conflict = store.get<{agent_name: string; access: 'read' | 'write'}>(
      `SELECT l.access, (SELECT name FROM orch_agents WHERE id = l.agent_id) AS agent_name FROM orch_locks l
WHERE l.repository_id = ? AND l.path = ? AND l.task_id <> ? AND (l.access = 'write' OR ? = 'write')
  AND ((l.agent_id <> ? AND l.acquired_at_ms BETWEEN ? AND ?)
    OR ((l.agent_id <> ? OR ?) AND EXISTS (SELECT 1 FROM orch_tasks t WHERE t.id = l.task_id AND t.status = 'InProgress')))
LIMIT 1`,
      [repositoryId, path, taskId, access, agentId, stale, now(), agentId, purpose === 'run' ? 1 : 0],
    )
    if (conflict === undefined) continue
    const kind = conflict.access === 'write' ? 'exclusively_held' : 'shared_readers_exist'
    return {path, agent_name: conflict.agent_name, kind}
  }
  const fresh = files.filter(({path}) => !isHeld(context, path, agentId))
  for (const {path, access} of files) {
    if (purpose === 'reserve' && isReserved(context, path, agentId, stale)) continue
    store.run(
      `INSERT INTO orch_locks (repository_id, path, task_id, agent_id, access, acquired_at_ms) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET agent_id = excluded.agent_id, access = excluded.access, acquired_at_ms = excluded.acquired_at_ms`,
      [repositoryId, path, taskId, agentId, access, now()],
    )
  }
  const paths = fresh.map(({path}) => path)
  if (paths.length > 0) appendEvent(context, {type: 'lock_acquired', task_id: taskId, agent_id: agentId, paths})
  return undefined
}

const isHeld = ({store, repositoryId}: WorkspaceContext, path: string, agentId: number): boolean =>
  store.get('SELECT 1 FROM orch_locks WHERE repository_id = ? AND path = ? AND agent_id = ? LIMIT 1', [
    repositoryId,
    path,
    agentId,
  ]) !== undefined

/** One reservation per file and agent is enough for all of the agent's waiting tasks. */
const isReserved = (
  {store, repositoryId, now}: WorkspaceContext,
  path: string,
  agentId: number,
  stale: number,
): boolean =>
  store.get(
    `SELECT 1 FROM orch_locks WHERE repository_id = ? AND path = ? AND agent_id = ? AND access = 'write'
  AND acquired_at_ms BETWEEN ? AND ? LIMIT 1`,
    [repositoryId, path, agentId, stale, now()],
  ) !== undefined

/** True if a task may already start; a task that may not reserves no files. */
export const isDue = ({now}: WorkspaceContext, startAfterMs: number | null | undefined): boolean =>
  startAfterMs == null || startAfterMs <= now()

/**
 * Reserves the files that a waiting task writes.
 * @throws lock_conflict
 */
export function reserveWrites(
  context: WorkspaceContext,
  {id: taskId, agent_id: agentId}: {id: number; agent_id: number},
  manifest: readonly ManifestEntry[],
): void {
  const conflict = takeLocks(context, {taskId, agentId, files: writesOf(manifest), purpose: 'reserve'})
  if (conflict === undefined) return
  const {path, agent_name: holder, kind} = conflict
  throw new SvcError('lock_conflict', {path, holder, kind})
}

export const releaseLocks = ({store}: WorkspaceContext, taskId: number): void => {
  store.run('DELETE FROM orch_locks WHERE task_id = ?', [taskId])
}

/** Deletes stale locks: those older than `lock_timeout_ms` whose task is not running. */
export const sweepLocks = ({store, repositoryId, now, config}: WorkspaceContext): number =>
  store.run(
    `DELETE FROM orch_locks WHERE repository_id = ? AND acquired_at_ms NOT BETWEEN ? AND ?
  AND task_id NOT IN (SELECT id FROM orch_tasks WHERE repository_id = ? AND status = 'InProgress')`,
    [repositoryId, now() - config.lockTimeoutMs, now(), repositoryId],
  ).changes

/** Records the agent as the owner of these files: later tasks on them prefer it. */
export function recordAffinity(context: WorkspaceContext, agentId: number, files: readonly ManifestEntry[]): void {
  const {store, repositoryId, now} = context
  for (const {path} of files)
    store.run(
      `INSERT INTO orch_affinity (repository_id, path, agent_id, updated_at_ms) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET agent_id = excluded.agent_id, updated_at_ms = excluded.updated_at_ms`,
      [repositoryId, path, agentId, now()],
    )
}

/** Removes the ownership of these files where this agent is the owner. */
export function forgetAffinity(context: WorkspaceContext, agentId: number, files: readonly ManifestEntry[]): void {
  const {store, repositoryId} = context
  for (const {path} of files)
    store.run('DELETE FROM orch_affinity WHERE repository_id = ? AND path = ? AND agent_id = ?', [
      repositoryId,
      path,
      agentId,
    ])
}

/** The number of these files that each agent owns; retired agents own none. */
export function ownedFiles(context: WorkspaceContext, files: readonly ManifestEntry[]): ReadonlyMap<number, number> {
  const {store, repositoryId} = context
  const owned = new Map<number, number>()
  for (const {path} of files) {
    const owner = store.get<{agent_id: number}>(
      'SELECT agent_id FROM orch_affinity WHERE repository_id = ? AND path = ?',
      [repositoryId, path],
    )
    if (owner !== undefined) owned.set(owner.agent_id, (owned.get(owner.agent_id) ?? 0) + 1)
  }
  return owned
}

export const writesOf = (manifest: readonly ManifestEntry[]): ManifestEntry[] =>
  manifest.filter(({access}) => access === 'write')
