import type {SessionEvent} from './event.js'
import type {Session} from './session.js'

/** One event as it is kept. */
export interface JournalEntry {
  /** Where it stands in its journal: greater than that of every entry before it. */
  readonly at: number
  /** JSON of the event. */
  readonly text: string
}

/**
 * Where the events of sessions are kept. Entries are only ever added at the end, also by several processes at once;
 * the journal is the truth, and a session in memory is what its entries say. All is synchronous: files are small and
 * local, and the database answers at once.
 */
export interface SessionJournal {
  /** Ids of the sessions that are kept. */
  list(): string[]
  /** Entries from a place on, that one included; undefined where no such session is kept. */
  load(id: string, from?: number): JournalEntry[] | undefined
  /** Begins a session with its first event; false, and nothing is written, where the id is taken. */
  open(id: string, event: SessionEvent, session: Session): boolean
  /**
   * Adds an event. `session` is the state after it.
   * @throws session_not_found when the session is not kept any more
   */
  append(id: string, event: SessionEvent, session: Session): void
  /** Removes a session for good: its id is not known from then on. `at` is in Unix seconds. */
  remove(id: string, at: number): void
  /** Runs work with no change of another process in between, where the journal can do that. */
  atomically<T>(work: () => T): T
  /** Where an entry stands, for people: `line 3 of …`. */
  place(id: string, at: number): string
}
