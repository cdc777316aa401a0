import {isErrorOf, SvcError} from '../errors/index.js'
import {applyEvent} from './apply-event.js'
import {type Compaction, dueCompaction} from './compaction.js'
import {type CreatedEvent, isCount, type SessionEvent} from './event.js'
import type {JournalEntry, SessionJournal} from './journal.js'
import {copySession, readEvents, replay} from './replay.js'
import type {Session, Turn} from './session.js'
import {isSessionId, sessionId} from './session-id.js'
import {summariseTurns} from './session-info.js'
import {dueChanges, type SessionTimers, type StateChange} from './timers.js'

export interface SessionsOptions extends SessionTimers {
  readonly journal: SessionJournal
  /** Fallback journal; sessions found there are copied into `journal`. */
  readonly older?: SessionJournal
  /** Maximum number of open sessions; archived ones do not count. */
  readonly maxSessions: number
  readonly compaction: Compaction
  /** Unix milliseconds. */
  readonly now: () => number
  /** Random number in [0, 1). */
  readonly random: () => number
}

/** A session as read from its journal so far, with its last entry. */
interface Held {
  readonly session: Session
  readonly last: JournalEntry
}

/**
 * The sessions of a repository. Every operation appends an event to the journal and reads new entries, including those
 * of other processes, so that the state in memory always matches the journal. A rollback of a surrounding transaction
 * is detected too.
 */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #held = new Map<string, Held>()
  #counter = 0

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** @throws session_limit */
  create(agentId: string, tenantId: string | null = null): Session {
    const {journal, maxSessions, now, random} = this.#options
    return journal.atomically(() => {
      if (this.list().filter(({state}) => state !== 'archived').length >= maxSessions)
        throw new SvcError('session_limit', {limit: maxSessions})
      for (;;) {
        const id = sessionId(now(), ++this.#counter, random())
        const created: CreatedEvent = {
          event: 'created',
          session_id: id,
          agent_id: agentId,
          tenant_id: tenantId,
          created_at: this.#seconds(),
        }
        if (journal.open(id, created, applyEvent(undefined, created))) return this.load(id)
      }
    })
  }

  /**
   * The current state of a session.
   * @throws session_not_found, session_damaged
   */
  load(id: string): Session {
    const session = isSessionId(id) ? (this.#read(id) ?? this.#import(id)) : undefined
    if (session === undefined) throw new SvcError('session_not_found', {id})
    return session
  }

  /** All readable sessions, oldest first. */
  list(): Session[] {
    const ids = this.#options.journal.list()
    const known = new Set(ids)
    for (const id of this.#held.keys()) if (!known.has(id)) this.#held.delete(id)
    return ids
      .flatMap((id) => this.#readSound(id))
      .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
  }

  /**
   * Adds a turn, and summarises older turns if there are too many tokens.
   * @throws usage if `tokens` is not a valid count
   */
  addTurn(id: string, {role, content, tokens}: Omit<Turn, 'at'>): Session {
    if (!isCount(tokens))
      throw new SvcError('usage', {reason: `The tokens of a turn must be a whole number of at least 0, not ${tokens}.`})
    return this.#options.journal.atomically(() => {
      const session = this.#record(id, (_, at) => ({event: 'turn_added', role, content, tokens, at}))
      const due = dueCompaction(session.turns, this.#options.compaction)
      return due === undefined ? session : this.#summarise(session, due)
    })
  }

  setMeta(id: string, key: string, value: string): Session {
    return this.#record(id, (_, at) => ({event: 'meta_updated', key, value, at}))
  }

  /** @param state any JSON value */
  setPluginState(id: string, pluginId: string, state: unknown): Session {
    return this.#record(id, (_, at) => ({
      event: 'plugin_state_updated',
      plugin_id: pluginId,
      // JSON omits undefined values, which would be missing after a reload.
      state: JSON.stringify(state) === undefined ? null : state,
      at,
    }))
  }

  /** Deletes the turns and keeps everything else. Returns the number of deleted turns. */
  reset(id: string): number {
    let count = 0
    this.#record(id, ({turns}, at) => {
      count = turns.length
      return {event: 'reset', at}
    })
    return count
  }

  /** Replaces all turns by one system turn with a summary. Returns the number of turns removed. */
  compact(id: string, summary: string): number {
    let removed = 0
    this.#record(id, ({turns}, at) => {
      removed = Math.max(0, turns.length - 1)
      return {event: 'compacted', summary, turns_removed: removed, at}
    })
    return removed
  }

  /** Replaces the turns between the first and the last ones by a summary. */
  #summarise({id, turns}: Session, {head, tail}: {head: number; tail: number}): Session {
    const replaced = turns.slice(head, turns.length - tail)
    const summary = summariseTurns(replaced)
    return this.#record(id, (_, at) => ({
      event: 'compacted',
      summary,
      turns_removed: replaced.length - 1,
      head,
      tail,
      at,
    }))
  }

  recordExpensiveOp(id: string): Session {
    return this.#record(id, (_, at) => ({event: 'expensive_op_recorded', at}))
  }

  /** Applies due timers. Damaged sessions are skipped. */
  tick(nowMs = this.#options.now()): ({id: string} & StateChange)[] {
    const at = Math.floor(nowMs / 1000)
    const due = (session: Session) => dueChanges(session, at, this.#options)
    return this.list()
      .filter((session) => due(session).length > 0)
      .flatMap(({id}) =>
        this.#options.journal.atomically(() =>
          this.#readSound(id)
            .flatMap(due)
            .map((change) => {
              this.#write(this.load(id), {event: 'state_changed', ...change, at})
              return {id, ...change}
            }),
        ),
      )
  }

  /** Removes the archived sessions and returns their ids. */
  cleanup(nowMs = this.#options.now()): string[] {
    const {journal, older} = this.#options
    const isArchived = ({state}: Session) => state === 'archived'
    const archived = this.list().filter(isArchived)
    return archived.flatMap(({id}) =>
      journal.atomically(() => {
        if (!this.#readSound(id).some(isArchived)) return []
        journal.remove(id, Math.floor(nowMs / 1000))
        older?.remove(id, Math.floor(nowMs / 1000))
        this.#held.delete(id)
        return [id]
      }),
    )
  }

  /** Releases memory. The journals stay open; they belong to the caller. */
  close(): void {
    this.#held.clear()
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000)
  }

  #record(id: string, eventOf: (session: Session, at: number) => SessionEvent): Session {
    return this.#options.journal.atomically(() => {
      const session = this.load(id)
      this.#write(session, eventOf(session, this.#seconds()))
      return this.load(id)
    })
  }

  #write(session: Session, event: SessionEvent): void {
    this.#options.journal.append(session.id, event, applyEvent(session, event))
  }

  /** Reads new entries of a journal; undefined if it has no such session. @throws session_damaged */
  #read(id: string): Session | undefined {
    const {journal} = this.#options
    const held = this.#held.get(id)
    const entries = journal.load(id, held?.last.at)
    if (entries === undefined) {
      this.#held.delete(id)
      return undefined
    }
    // If the last known entry has changed, the journal has been rolled back or replaced.
    if (held !== undefined && entries[0]?.text !== held.last.text) {
      this.#held.delete(id)
      return this.#read(id)
    }
    const news = held === undefined ? entries : entries.slice(1)
    const session = replay(id, readEvents(journal, id, news), held?.session)
    this.#held.set(id, {session, last: entries.at(-1) ?? {at: 0, text: ''}})
    return session
  }

  /** Empty if the session has been removed in the meantime or is damaged. */
  #readSound(id: string): Session[] {
    try {
      const session = this.#read(id)
      return session === undefined ? [] : [session]
    } catch (error) {
      if (isErrorOf(error, 'session_damaged')) return []
      throw error
    }
  }

  #import(id: string): Session | undefined {
    const {journal, older} = this.#options
    const entries = older?.load(id)
    if (older === undefined || entries === undefined) return undefined
    const events = readEvents(older, id, entries)
    replay(id, events)
    copySession(journal, id, events)
    return this.#read(id)
  }
}
