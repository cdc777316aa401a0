import {SvcError} from '../errors/index.js'
import {applyEvent} from './apply-event.js'
import {parseEvent, type SessionEvent} from './event.js'
import type {JournalEntry, SessionJournal} from './journal.js'
import type {Session} from './session.js'

/**
 * The events of a session, read from entries of a journal.
 * @throws session_damaged
 */
export function readEvents(journal: SessionJournal, id: string, entries: readonly JournalEntry[]): SessionEvent[] {
  return entries.map(({at, text}) => {
    const event = parseEvent(text)
    if (event === undefined) throw new SvcError('session_damaged', {id, reason: `${journal.place(id, at)} is no event`})
    return event
  })
}

/**
 * A session after more events, or after all of them where it starts from none.
 * @throws session_damaged
 */
export function replay(id: string, events: readonly SessionEvent[], start?: Session): Session {
  let session = start
  for (const event of events) session = applyEvent(session, event)
  if (session === undefined) throw new SvcError('session_damaged', {id, reason: 'no event says that it was created'})
  if (session.id !== id) throw new SvcError('session_damaged', {id, reason: `its events are those of ${session.id}`})
  return session
}

/** Copies a session, event by event; does nothing where the journal has had one of that id, be it removed since. */
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
