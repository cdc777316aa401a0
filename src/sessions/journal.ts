import type {SessionEvent} from './event.js'
import type {Session} from './session.js'

/** A stored event. */
export interface JournalEntry {
  /** Position in the journal, increasing. */
  readonly at: number
  /** JSON of the event. */
  readonly text: string
}

/**
 * The storage of session events. Entries are only appended, possibly by several processes concurrently. The journal is
 * the source of truth, from which sessions in memory are computed. All methods are synchronous: files are small and
 * local, and the database responds immediately.
 */
export interface SessionJournal {
  /** Ids of the stored sessions. */
  list(): string[]
  /** Entries from a position on, inclusive; undefined if the session does not exist. */
  load(id: string, from?: number): JournalEntry[] | undefined
  /** Creates a session with its first event; returns false and writes nothing if the id exists. */
  open(id: string, event: SessionEvent, session: Session): boolean
  /**
   * Adds an event. `session` is the state after it.
   * @throws session_not_found if the session no longer exists
   */
  append(id: string, event: SessionEvent, session: Session): void
  /** Removes a session permanently. `at` is in Unix seconds. */
  remove(id: string, at: number): void
  /** Runs work without concurrent changes by other processes, if the journal supports that. */
  atomically<T>(work: () => T): T
  /** Human-readable position of an entry: `line 3 of …`. */
  place(id: string, at: number): string
}
