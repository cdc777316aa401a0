import type {ModelMessage} from '../polish/ask-model.js'

/** What routing remembers of a session. */
export interface RoutedSession {
  chat: ModelMessage[]
  /** Number of chat turns of the user, also of those that are no longer in `chat`. */
  userTurns: number
  lastTranscript: string | undefined
  /** Unix ms. */
  lastTouch: number
}

export interface MemoryLimits {
  sessions: number
  ttlMs: number
  /** Messages per session. */
  chatMessages: number
}

/** Remembers sessions in this process: at most a number of them, each until it was unused for some time. */
export class RoutingMemory {
  /** The least recently used first. */
  readonly #sessions = new Map<string, RoutedSession>()

  get size(): number {
    return this.#sessions.size
  }

  /** Returns a session, and forgets others beyond the limits. */
  touch(id: string, {sessions, ttlMs}: MemoryLimits, now: number = Date.now()): RoutedSession {
    const session = this.#sessions.get(id)
    const isKnown = session !== undefined && now - session.lastTouch <= ttlMs
    const found = isKnown ? session : {chat: [], userTurns: 0, lastTranscript: undefined, lastTouch: now}
    found.lastTouch = now
    this.#sessions.delete(id)
    this.#sessions.set(id, found)
    for (const [other, {lastTouch}] of this.#sessions) {
      if (this.#sessions.size <= sessions && now - lastTouch <= ttlMs) break
      this.#sessions.delete(other)
    }
    return found
  }
}

/** Adds a message and forgets the oldest ones beyond the limit. */
export function remember(session: RoutedSession, turn: ModelMessage, {chatMessages}: MemoryLimits): void {
  session.chat.push(turn)
  session.chat.splice(0, Math.max(0, session.chat.length - chatMessages))
}
