import {withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {compareToEarlier, type MessageKey} from './idempotency-key.js'
import {byUrgency, type Delivered, type Draft, displayMessage, type Message} from './message.js'

/** Capacity of one inbox, in messages. */
export const inboxCapacity = 100
/** How long a message waits for acknowledgement, ms. */
export const messageTtlMs = 300_000

/** Settings of the bus, which a reload can change. */
export interface BusSettings {
  /** Capacity of all inboxes together, and of the history, in messages. */
  readonly eventBusCapacity: number
}

/** A message in one inbox. */
interface Copy {
  readonly agent: number
  readonly letter: Letter
  acknowledged: boolean
}

/** A sent message, independent of its receivers. */
interface Letter {
  readonly id: number
  readonly draft: Draft
  /** Null for every agent except the sender. */
  readonly receiver: number | null
  readonly key: string | undefined
  readonly sentAtMs: number
  readonly copies: Copy[]
}

/** The messages to list. */
export interface Wanted {
  /** Sender or receiver; a broadcast counts for each agent that has a copy. */
  readonly agentId?: number | undefined
  readonly threadId?: string | undefined
  /** Unix ms */
  readonly sinceMs: number
  readonly before?: number | undefined
  readonly limit: number
}

/** Messages of an agent or conversation, or of all. */
export interface Past {
  /** Number of messages at all times, including those that are not returned. */
  readonly total: number
  /** Newest first. */
  readonly messages: readonly Message[]
}

/**
 * In-memory messages between the agents of one process. Each agent has an inbox; reading does not remove messages. A
 * full inbox first drops acknowledged and expired messages, then the oldest message, which is counted as dropped.
 */
export class MessageBus {
  readonly #now: () => number
  readonly #settings: () => BusSettings
  readonly #inboxes = new Map<number, Set<Copy>>()
  /** Copies in order of arrival. */
  readonly #copies = new Set<Copy>()
  readonly #trail: Letter[] = []
  readonly #dropped = new Map<number, number>()
  #lastId = 0

  /** @param now Unix ms */
  constructor(now: () => number, settings: () => BusSettings) {
    this.#now = now
    this.#settings = settings
  }

  /** Delivers a message to an inbox. @throws message_key_conflict */
  send(draft: Draft, receiver: number, key: MessageKey): Delivered {
    const earlier = this.#earlier(draft, receiver, key)
    if (earlier !== undefined) return {message: toMessage(earlier.letter, earlier), isRepeated: true, dropped: 0}
    const letter = this.#write(draft, receiver, key.text)
    const dropped = this.#deliver(letter, receiver)
    return {message: toMessage(letter), isRepeated: false, dropped}
  }

  /** Delivers a message to many inboxes. */
  broadcast(draft: Draft, receivers: readonly number[]): Delivered {
    const letter = this.#write(draft, null)
    let dropped = 0
    for (const receiver of receivers) dropped += this.#deliver(letter, receiver)
    return {message: toMessage(letter), isRepeated: false, dropped}
  }

  /** The unread messages of an agent, most urgent first, then oldest first. */
  unread(agent: number): Message[] {
    const copies = [...(this.#inboxes.get(agent) ?? [])].filter((copy) => this.#isUnread(copy))
    return copies.map((copy) => toMessage(copy.letter, copy)).sort(byUrgency)
  }

  /** A message in the inbox of an agent, read or not; undefined if there is none. */
  find(agent: number, id: number): Message | undefined {
    const copy = this.#find(agent, id)
    return copy === undefined ? undefined : toMessage(copy.letter, copy)
  }

  /**
   * Acknowledges a message. Its agent is its only consumer, which gets the same reply again. Returns false if the message
   * is not in the inbox.
   */
  acknowledge(agent: number, id: number): boolean {
    const copy = this.#find(agent, id)
    if (copy === undefined) return false
    copy.acknowledged = true
    return true
  }

  /** The messages among those that are remembered. The total of all agents includes those no longer remembered. */
  history({agentId, threadId, sinceMs, before = Number.POSITIVE_INFINITY, limit}: Wanted): Past {
    const isKept = ({draft, copies}: Letter) =>
      (agentId === undefined || draft.sender === agentId || copies.some(({agent}) => agent === agentId)) &&
      (threadId === undefined || draft.threadId === threadId)
    const kept = this.#trail.filter(isKept)
    const since = kept.filter(({id, sentAtMs}) => sentAtMs > sinceMs && id < before)
    const isAll = agentId === undefined && threadId === undefined
    return {
      total: isAll ? this.#lastId : kept.length,
      messages: since
        .slice(-limit)
        .reverse()
        .map((letter) => toMessage(letter)),
    }
  }

  /** Number of unread messages dropped since the process started, of one agent or of all. */
  dropped(agent?: number): number {
    if (agent !== undefined) return this.#dropped.get(agent) ?? 0
    return [...this.#dropped.values()].reduce((sum, count) => sum + count, 0)
  }

  #earlier(draft: Draft, receiver: number, key: MessageKey): Copy | undefined {
    const known = [...(this.#inboxes.get(receiver) ?? [])].findLast(
      (copy) => copy.letter.key === key.text && copy.letter.draft.sender === draft.sender && !this.#isExpired(copy),
    )
    if (known === undefined) return undefined
    const {letter, acknowledged} = known
    const {type, payload} = letter.draft
    const earlier = {type, payload, timestampMs: letter.sentAtMs, acknowledged}
    const comparison = compareToEarlier(key, draft, earlier, this.#now())
    if (comparison === 'conflicting')
      throw new SvcError('message_key_conflict', {key: key.text, message: displayMessage(letter.id)})
    return comparison === 'repeated' ? known : undefined
  }

  #write(draft: Draft, receiver: number | null, key?: string): Letter {
    const letter = {id: ++this.#lastId, draft, receiver, key, sentAtMs: this.#now(), copies: []}
    this.#trail.push(letter)
    while (this.#trail.length > this.#settings().eventBusCapacity) this.#trail.shift()
    return letter
  }

  /** Returns the number of unread messages that were dropped. */
  #deliver(letter: Letter, agent: number): number {
    this.#forgetExpired()
    const inbox = this.#inboxes.get(agent) ?? new Set()
    this.#inboxes.set(agent, inbox)
    const dropped =
      this.#makeRoom(inbox, inboxCapacity) + this.#makeRoom(this.#copies, this.#settings().eventBusCapacity)
    const copy = {agent, letter, acknowledged: false}
    letter.copies.push(copy)
    inbox.add(copy)
    this.#copies.add(copy)
    return dropped
  }

  #makeRoom(copies: Set<Copy>, capacity: number): number {
    let dropped = 0
    while (copies.size >= capacity) {
      const [oldest] = copies
      const victim = [...copies].find((copy) => !this.#isUnread(copy)) ?? oldest
      if (victim === undefined) break
      if (this.#isUnread(victim)) {
        this.#dropped.set(victim.agent, this.dropped(victim.agent) + 1)
        dropped++
      }
      this.#remove(victim)
    }
    return dropped
  }

  #forgetExpired(): void {
    for (const copy of this.#copies) {
      if (!this.#isExpired(copy)) return
      this.#remove(copy)
    }
  }

  #remove(copy: Copy): void {
    this.#copies.delete(copy)
    this.#inboxes.get(copy.agent)?.delete(copy)
  }

  #find(agent: number, id: number): Copy | undefined {
    const inbox = this.#inboxes.get(agent) ?? []
    return [...inbox].find((copy) => copy.letter.id === id && !this.#isExpired(copy))
  }

  #isUnread(copy: Copy): boolean {
    return !copy.acknowledged && !this.#isExpired(copy)
  }

  #isExpired({letter}: Copy): boolean {
    return this.#now() - letter.sentAtMs >= messageTtlMs
  }
}

/** The message of an inbox copy. Without a copy, it counts as acknowledged once every receiver has acknowledged it. */
function toMessage({id, draft, receiver, sentAtMs, copies}: Letter, copy?: Copy): Message {
  const {sender, type, payload, priority, correlationId, threadId, tenantId} = draft
  return {
    id,
    display_id: displayMessage(id),
    sender,
    receiver,
    msg_type: type,
    payload,
    priority,
    timestamp_ms: sentAtMs,
    acknowledged: copy?.acknowledged ?? (copies.length > 0 && copies.every(({acknowledged}) => acknowledged)),
    route: 'local',
    delivery_plane: receiver === null ? 'broadcast' : 'local_ephemeral',
    ...withoutUndefined({correlation_id: correlationId, thread_id: threadId, tenant_id: tenantId}),
  }
}
