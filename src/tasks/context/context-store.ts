import {withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {confidencePolicy, type TaskListener, type WorkspaceContext} from '../../workspace/index.js'
import {appendEvent} from '../events/event-log.js'
import {checkEnvelope, envelopePrefix} from './envelope.js'

/** Limits of an entry in characters, and of the expiry in seconds. */
export const contextLimits = {key: 512, value: 262_144, ttlSecs: 315_360_000} as const

/** Maximum number of entries of a workspace. */
const maxEntries = 10_000

/** A value that agents share. */
export interface ContextEntry {
  /** Agent that set the entry, if known. */
  agent_id: number | null
  value: string
  /** Unix seconds; 0: never. */
  expires_at: number
  /** Unix seconds. */
  set_at: number
}

/** An entry of a list, with only the beginning of its value. */
export interface ListedContextEntry extends ContextEntry {
  key: string
  /** Length of the complete value in characters. */
  length: number
}

export interface NewContextEntry {
  key: string
  value: string
  agentId?: number | undefined
  /** Seconds until the entry expires; 0 or undefined: never. */
  ttlSecs?: number | undefined
  /** How sure the agent is of the value, 0 to 1. */
  confidence?: number | undefined
}

const nowSecs = ({now}: Pick<WorkspaceContext, 'now'>): number => Math.floor(now() / 1000)

/** Entries that have not expired. */
const current = 'repository_id = @repository AND (expires_at = 0 OR expires_at > @now)'

const currentParams = (context: WorkspaceContext) => ({repository: context.repositoryId, now: nowSecs(context)})

/**
 * Sets an entry, or replaces it. A context envelope is checked like one that is submitted with a task.
 * @throws context_invalid, context_full
 */
export function setContext(context: WorkspaceContext, entry: NewContextEntry): ContextEntry {
  const {key, value, agentId, ttlSecs = 0, confidence} = entry
  const {minPersistConfidence: min} = confidencePolicy(context.config.socratesPolicy)
  const refuse = (fault: string): never => {
    throw new SvcError('context_invalid', {key: key.slice(0, 100), fault})
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is rejected
  if (key.trim() === '' || /[\0-\x1f\x7f]/.test(key)) refuse('its key is blank or contains a control character')
  if (key.length > contextLimits.key) refuse(`its key has ${key.length} characters; the limit is ${contextLimits.key}`)
  if (value.length > contextLimits.value)
    refuse(`its value has ${value.length} characters; the limit is ${contextLimits.value}`)
  if (!Number.isSafeInteger(ttlSecs) || ttlSecs < 0 || ttlSecs > contextLimits.ttlSecs)
    refuse(`its time to live is not a number of seconds from 0 to ${contextLimits.ttlSecs}`)
  if (confidence !== undefined && !(confidence >= min))
    refuse(`its confidence of ${confidence} is below the minimum of ${min}`)
  const violations = key.startsWith(envelopePrefix) ? checkEnvelope(value, context, refuse) : []
  return context.store.transaction(() => {
    const stored = putContext(context, entry)
    if (violations.length > 0)
      appendEvent(context, {
        type: 'context_envelope_violation',
        key,
        ...(agentId === undefined ? {} : {agent_id: agentId}),
        violations,
      })
    return stored
  })
}

/** Stores an entry that is known to be valid. @throws context_full */
export function putContext(
  context: WorkspaceContext,
  {key, value, agentId, ttlSecs = 0}: NewContextEntry,
): ContextEntry {
  const {store, repositoryId} = context
  makeRoom(context, key)
  const set_at = nowSecs(context)
  const expires_at = ttlSecs === 0 ? 0 : set_at + ttlSecs
  const agent_id = agentId ?? null
  store.run(
    `INSERT INTO orch_context (repository_id, key, agent_id, value, expires_at, set_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET agent_id = excluded.agent_id, value = excluded.value, expires_at = excluded.expires_at,
  set_at = excluded.set_at`,
    [repositoryId, key, agent_id, value, expires_at, set_at],
  )
  appendEvent(context, {type: 'context_updated', key, ...withoutUndefined({agent_id: agentId})})
  return {agent_id, value, expires_at, set_at}
}

/** If the store is full, removes the entry that expires first. @throws context_full if no entry expires */
function makeRoom({store, repositoryId}: WorkspaceContext, key: string): void {
  const ofKey = [repositoryId, key]
  if (store.get('SELECT 1 FROM orch_context WHERE repository_id = ? AND key = ?', ofKey) !== undefined) return
  const count = store.get<{n: number}>('SELECT count(*) AS n FROM orch_context WHERE repository_id = ?', [repositoryId])
  if ((count?.n ?? 0) < maxEntries) return
  const {changes} = store.run(
    `DELETE FROM orch_context WHERE repository_id = ? AND key = (SELECT key FROM orch_context
  WHERE repository_id = ? AND expires_at > 0 ORDER BY expires_at, key LIMIT 1)`,
    [repositoryId, repositoryId],
  )
  if (changes === 0) throw new SvcError('context_full', {limit: maxEntries})
}

/** The entry of a key; undefined if there is none or it has expired. */
export const getContext = (context: WorkspaceContext, key: string): ContextEntry | undefined =>
  context.store.get<ContextEntry>(
    `SELECT agent_id, value, expires_at, set_at FROM orch_context WHERE ${current} AND key = @key`,
    {...currentParams(context), key},
  )

/** Length of the beginning of a value in lists, in characters. */
const listedLength = 1000

export interface ContextFilter {
  /** Only keys that begin with this text. */
  prefix?: string | undefined
  /** Only keys after this one: the next page. */
  after?: string | undefined
  limit?: number | undefined
}

/** Entries in the order of their keys, with the beginning of their values. */
export const listContext = (
  context: WorkspaceContext,
  {prefix = '', after = '', limit = 50}: ContextFilter = {},
): ListedContextEntry[] =>
  context.store.all<ListedContextEntry>(
    `SELECT key, agent_id, substr(value, 1, ${listedLength}) AS value, length(value) AS length, expires_at, set_at
FROM orch_context WHERE ${current} AND key > @after AND substr(key, 1, length(@prefix)) = @prefix
ORDER BY key LIMIT @limit`,
    {...currentParams(context), prefix, after, limit},
  )

const reported = {entries: 100, valueLength: 200}

/** The latest entries by key, with the beginning of their values. */
export function reportContext(context: WorkspaceContext): Record<string, ContextEntry> {
  const rows = context.store.all<ContextEntry & {key: string}>(
    `SELECT key, agent_id, substr(value, 1, ${reported.valueLength}) AS value, expires_at, set_at FROM orch_context
WHERE ${current} ORDER BY set_at DESC, key LIMIT ${reported.entries}`,
    currentParams(context),
  )
  return Object.fromEntries(rows.map(({key, ...entry}) => [key, entry]))
}

/** Maximum number of entries per prune. */
const pruneSize = 1000

/** Deletes expired entries, a limited number per call. Returns the number deleted. */
export const pruneContext = (context: WorkspaceContext): number =>
  context.store.run(
    `DELETE FROM orch_context WHERE repository_id = @repository AND key IN (SELECT key FROM orch_context
  WHERE repository_id = @repository AND expires_at > 0 AND expires_at <= @now ORDER BY expires_at LIMIT ${pruneSize})`,
    currentParams(context),
  ).changes

export const contextListener: TaskListener = {
  cleanup: (context) => {
    pruneContext(context)
  },
}
