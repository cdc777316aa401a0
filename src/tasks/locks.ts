import {SvcError} from '../errors/index.js'
import type {TaskContext} from './base/context.js'
import type {ManifestEntry} from './base/task.js'

/** Who has a file that is wanted. */
export interface LockConflict {
  path: string
  agent_name: string
  kind: 'exclusively_held' | 'shared_readers_exist'
}

interface Wanted {
  taskId: number
  agentId: number
  files: readonly ManifestEntry[]
  /** A task that waits reserves its files for its agent; one that is run holds them itself. */
  purpose: 'reserve' | 'run'
}

/**
 * Takes the files of a task, all or none: a writer excludes every other agent, readers share. An agent is never in its
 * own way while its tasks wait, since it runs one at a time; a task that is being run is in everybody's way. A
 * reservation ends after `lock_timeout_ms`: the files are taken when the task is run, if they are free then.
 * @returns the first conflict; nothing was taken then
 */
export function takeLocks(context: TaskContext, wanted: Wanted): LockConflict | undefined {
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
  for (const {path, access} of files) {
    if (purpose === 'reserve' && isReserved(context, path, agentId, stale)) continue
    store.run(
      `INSERT INTO orch_locks (repository_id, path, task_id, agent_id, access, acquired_at_ms) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET agent_id = excluded.agent_id, access = excluded.access, acquired_at_ms = excluded.acquired_at_ms`,
      [repositoryId, path, taskId, agentId, access, now()],
    )
  }
  return undefined
}

/** One reservation per file and agent is enough, however many of its tasks wait for the file. */
const isReserved = ({store, repositoryId, now}: TaskContext, path: string, agentId: number, stale: number): boolean =>
  store.get(
    `SELECT 1 FROM orch_locks WHERE repository_id = ? AND path = ? AND agent_id = ? AND access = 'write'
  AND acquired_at_ms BETWEEN ? AND ? LIMIT 1`,
    [repositoryId, path, agentId, stale, now()],
  ) !== undefined

/** Whether a task may be started by now; one that may not reserves no files. */
export const isDue = ({now}: TaskContext, startAfterMs: number | null | undefined): boolean =>
  startAfterMs == null || startAfterMs <= now()

/**
 * Reserves the files that a waiting task writes.
 * @throws lock_conflict
 */
export function reserveWrites(
  context: TaskContext,
  {id: taskId, agent_id: agentId}: {id: number; agent_id: number},
  manifest: readonly ManifestEntry[],
): void {
  const conflict = takeLocks(context, {taskId, agentId, files: writesOf(manifest), purpose: 'reserve'})
  if (conflict === undefined) return
  const {path, agent_name: holder, kind} = conflict
  throw new SvcError('lock_conflict', {path, holder, kind})
}

export const releaseLocks = ({store}: TaskContext, taskId: number): void => {
  store.run('DELETE FROM orch_locks WHERE task_id = ?', [taskId])
}

/** Deletes locks that nobody uses: of tasks that are not being run, older than `lock_timeout_ms`. */
export const sweepLocks = ({store, repositoryId, now, config}: TaskContext): number =>
  store.run(
    `DELETE FROM orch_locks WHERE repository_id = ? AND acquired_at_ms NOT BETWEEN ? AND ?
  AND task_id NOT IN (SELECT id FROM orch_tasks WHERE repository_id = ? AND status = 'InProgress')`,
    [repositoryId, now() - config.lockTimeoutMs, now(), repositoryId],
  ).changes

/** Remembers whose files these are: the next task on them goes to the same agent. */
export function recordAffinity(context: TaskContext, agentId: number, files: readonly ManifestEntry[]): void {
  const {store, repositoryId, now} = context
  for (const {path} of files)
    store.run(
      `INSERT INTO orch_affinity (repository_id, path, agent_id, updated_at_ms) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET agent_id = excluded.agent_id, updated_at_ms = excluded.updated_at_ms`,
      [repositoryId, path, agentId, now()],
    )
}

/** Forgets whose files these are, where they are this agent's. */
export function forgetAffinity(context: TaskContext, agentId: number, files: readonly ManifestEntry[]): void {
  const {store, repositoryId} = context
  for (const {path} of files)
    store.run('DELETE FROM orch_affinity WHERE repository_id = ? AND path = ? AND agent_id = ?', [
      repositoryId,
      path,
      agentId,
    ])
}

/** How many of these files belong to each agent; a retired one has none. */
export function ownedFiles(context: TaskContext, files: readonly ManifestEntry[]): ReadonlyMap<number, number> {
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
