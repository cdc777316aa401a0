import {SvcError} from '../../errors/index.js'

/** A request that waits for messages of a receiver. */
export interface Waiter {
  /** Whether it takes a message away: then one that comes is offered to one waiter after the other. */
  takes: boolean
  /** Looks for messages. @returns whether there were any */
  look(): Promise<boolean>
  /** How long it waits, ms. */
  waitMs: number
  /** Aborts when its client has gone. */
  gone: AbortSignal
}

export interface WaiterOptions {
  /** Requests that may wait at once. */
  most: number
  /** A claim may end, or another process deliver, without news here: everyone looks again after so long, ms. */
  safetyMs: number
}

/** Those who wait for one receiver. */
interface Queue {
  /** How often something came while anybody waited. */
  news: number
  /** The last news that may be of several messages. */
  several: number
  /** In the order of their coming. */
  parked: Set<Slot>
  members: number
}

interface Slot {
  takes: boolean
  /** The news that its last look took in. */
  seen: number
  /** The news that it was woken for, and that nobody else looks after until it has. */
  offered: number | undefined
  wake(): void
}

/**
 * Long polls, by receiver. A delivery notifies them; of those who would take the message away only the one that
 * waits for longest is woken, and where it comes back with nothing the news goes to the next.
 */
export class Waiters {
  readonly #queues = new Map<string, Queue>()
  readonly #most: number
  readonly #safetyMs: number
  #waiting = 0
  #isClosed = false

  constructor({most, safetyMs}: WaiterOptions) {
    this.#most = most
    this.#safetyMs = safetyMs
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Looks until there is something, time is up, the client has gone or the server stops.
   * @throws overloaded where it would have to wait and too many do; what `look` throws
   */
  async poll(receiver: string, waiter: Waiter): Promise<void> {
    if (this.#waiting < this.#most) return this.#wait(receiver, waiter)
    if (!(await waiter.look())) throw new SvcError('overloaded', {reason: 'Too many requests wait for messages.'})
  }

  async #wait(receiver: string, {takes, look, waitMs, gone}: Waiter): Promise<void> {
    const untilMs = performance.now() + waitMs
    const queue = this.#join(receiver)
    const slot: Slot = {takes, seen: queue.news, offered: undefined, wake: () => {}}
    try {
      while (!gone.aborted) {
        slot.seen = queue.news
        if (await look()) {
          // Of several messages, the others are for the next.
          if (slot.offered !== queue.several) slot.offered = undefined
          return
        }
        passOn(queue, slot)
        const leftMs = untilMs - performance.now()
        if (leftMs <= 0 || this.#isClosed) return
        // What came during the look was offered to those who were parked, and may be for this one.
        if (queue.news === slot.seen) await park(queue, slot, Math.min(leftMs, this.#safetyMs), gone)
        if (this.#isClosed) return
      }
    } finally {
      passOn(queue, slot)
      this.#leave(receiver, queue)
    }
  }

  /** Something is there for a receiver. */
  notify(receiver: string): void {
    const queue = this.#queues.get(receiver)
    if (queue !== undefined) spread(queue)
  }

  /** Something may be there for anybody: a node has left its messages. */
  notifyAll(): void {
    for (const queue of this.#queues.values()) {
      queue.several = queue.news + 1
      spread(queue)
    }
  }

  /** Everyone looks again, without any news. */
  wakeAll(): void {
    for (const {parked} of this.#queues.values()) for (const slot of parked) slot.wake()
  }

  /** Everyone comes back with nothing, now and from now on. */
  close(): void {
    this.#isClosed = true
    this.wakeAll()
  }

  #join(receiver: string): Queue {
    const queue = this.#queues.get(receiver) ?? {news: 0, several: 0, parked: new Set(), members: 0}
    this.#queues.set(receiver, queue)
    queue.members++
    this.#waiting++
    return queue
  }

  #leave(receiver: string, queue: Queue): void {
    queue.members--
    this.#waiting--
    if (queue.members === 0) this.#queues.delete(receiver)
  }
}

function spread(queue: Queue): void {
  const news = ++queue.news
  for (const slot of queue.parked) if (!slot.takes) slot.wake()
  offer(queue, news)
}

/** Wakes the first of those who would take the message and have not looked since. */
function offer({parked}: Queue, news: number): void {
  for (const slot of parked) {
    if (!slot.takes || slot.seen >= news) continue
    slot.seen = news
    slot.offered = news
    slot.wake()
    return
  }
}

/** What one was woken for is for the next one. */
function passOn(queue: Queue, slot: Slot): void {
  const {offered} = slot
  slot.offered = undefined
  if (offered !== undefined) offer(queue, offered)
}

/** Waits to be woken, for at most so long. */
function park(queue: Queue, slot: Slot, ms: number, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      gone.removeEventListener('abort', wake)
      queue.parked.delete(slot)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    gone.addEventListener('abort', wake, {once: true})
    slot.wake = wake
    queue.parked.add(slot)
  })
}
