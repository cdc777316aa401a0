import {SvcError} from '../errors/index.js'
import {applyEvent} from './apply-event.js'
import {parseEvent, type SessionEvent} from './event.js'
import type {JournalEntry, SessionJournal} from './journal.js'
import type {Session} from './session.js'

/**
 * Parses the journal entries of a session.
 * @throws session_damaged
 */
export function readEvents(journal: SessionJournal, id: string, entries: readonly JournalEntry[]): SessionEvent[] {
  return entries.map(({at, text}) => {
    const event = parseEvent(text)
    if (event === undefined)
      throw new SvcError('session_damaged', {id, reason: `${journal.place(id, at)} is not a valid event`})
    return event
  })
}

/**
 * Applies events to a session, or creates it if `start` is omitted.
 * @throws session_damaged
 */
export function replay(id: string, events: readonly SessionEvent[], start?: Session): Session {
  let session = start
  for (const event of events) session = applyEvent(session, event)
  if (session === undefined) throw new SvcError('session_damaged', {id, reason: 'it has no created event'})
  if (session.id !== id) throw new SvcError('session_damaged', {id, reason: `its events belong to ${session.id}`})
  return session
}

/** Copies a session event by event; does nothing if the journal has, or had, a session with this id. */
export function copySession(journal: SessionJournal, id: string, events: readonly SessionEvent[]): void {
  journal.atomically(() => {
    let session: Session | undefined
    for (const event of events) {
      const next = applyEvent(session, event)
      if (next === undefined) continue
      if (session !== undefined) journal.append(id, event, next)
      else if (!journal.open(id, event, next)) return
      session = next
    }
  })
}
