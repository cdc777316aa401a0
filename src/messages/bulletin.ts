import type {BulletinEntryV1} from '../contracts/index.js'
import {type EventFilter, type EventRecord, type EventType, followEvents, readEvents} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'

/** An entry of the bulletin board: an event that other agents may act on. */
export type BulletinEntry = BulletinEntryV1
type EntryType = BulletinEntry['type']

/** The event type from which each type of entry is made. */
const sources: Readonly<Record<EntryType, EventType>> = {
  A2A: 'message_sent',
  AgentSpawned: 'agent_spawned',
  Answer: 'question_answered',
  Broadcast: 'message_broadcast',
  ContextUpdate: 'context_updated',
  DependencyReady: 'task_unblocked',
  FileChanged: 'files_changed',
  Interrupt: 'emergency_stop',
  LockAcquired: 'lock_acquired',
  Question: 'question_asked',
  TaskAssigned: 'task_placed',
  TaskCompleted: 'task_completed',
  TaskDoubted: 'task_doubted',
  TaskFailed: 'task_failed',
}

const bulletinTypes = Object.keys(sources) as EntryType[]

const entryTypes = new Map(bulletinTypes.map((type) => [sources[type], type]))

export interface BulletinFilter {
  /** Only entries after this event. */
  since?: number
  types?: readonly string[] | undefined
  limit?: number
}

/**
 * Entries in order, oldest first. A reader that is more than `bulletin_capacity` entries behind loses the oldest ones.
 * The entries are events that are already stored, so that every process of the workspace reads the same board.
 */
export const readBulletin = (context: WorkspaceContext, filter: BulletinFilter = {}): BulletinEntry[] =>
  readEvents(context, eventFilter(context, filter)).map(toEntry)

/** Number of entries that a follower reads at once. */
const pageSize = 32

/** Yields new entries as they are posted; ends when the signal aborts. */
export async function* followBulletin(context: WorkspaceContext, signal: AbortSignal): AsyncGenerator<BulletinEntry> {
  for await (const event of followEvents(context, eventFilter(context, {limit: pageSize}), signal)) yield toEntry(event)
}

const eventFilter = (context: WorkspaceContext, {types = bulletinTypes, ...page}: BulletinFilter): EventFilter => ({
  ...page,
  types: types.map((type) => sources[type as EntryType]),
  // A reload can change it.
  get latest() {
    return context.config.bulletinCapacity
  },
})

function toEntry({id, timestamp_ms, kind: {type, ...members}}: EventRecord): BulletinEntry {
  return {...members, type: entryTypes.get(type) as EntryType, event_id: id, timestamp_ms}
}
