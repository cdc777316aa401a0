import {SvcError} from '../errors/index.js'
import type {SessionJournal} from './journal.js'

/** In-memory sessions that end with the process. */
export function memoryJournal(): SessionJournal {
  const sessions = new Map<string, string[]>()
  return {
    list: () => [...sessions.keys()],
    load: (id, from = 0) => sessions.get(id)?.flatMap((text, at) => (at < from ? [] : [{at, text}])),
    open(id, event) {
      if (sessions.has(id)) return false
      sessions.set(id, [JSON.stringify(event)])
      return true
    },
    append(id, event) {
      const entries = sessions.get(id)
      if (entries === undefined) throw new SvcError('session_not_found', {id})
      entries.push(JSON.stringify(event))
    },
    remove: (id) => void sessions.delete(id),
    atomically: (work) => work(),
    place: (_id, at) => `event ${at + 1}`,
  }
}
