import {SvcError} from '../../errors/index.js'
import {onAbort} from '../../process/index.js'

/** Long poll for messages of a receiver. */
export interface Waiter {
  /** True if it claims a message. A new message is then offered to one such waiter at a time. */
  takes: boolean
  /** Checks for messages. @returns true if there are any */
  look(): Promise<boolean>
  /** Maximum wait, ms. */
  waitMs: number
  /** Aborts when the client disconnects. */
  gone: AbortSignal
}

export interface WaiterOptions {
  /** Maximum number of waiting requests. */
  max: number
  /** Interval at which all waiters check again, ms, because claims can expire without a notification. */
  safetyMs: number
}

/** Waiters of one receiver. */
interface Queue {
  notifications: number
  /** Number of the last notification that may stand for several messages. */
  several: number
  /** In order of arrival. */
  parked: Set<Slot>
  members: number
}

interface Slot {
  takes: boolean
  /** Last notification before its last check. */
  seen: number
  /** Notification for which it was woken, and which no other claiming waiter handles until it has checked. */
  offered: number | undefined
  wake(): void
}

/**
 * Long polls by receiver. A delivery wakes all waiters that only read, but only the longest-waiting one that claims. If
 * that one finds nothing, the notification is passed to the next.
 */
export class Waiters {
  readonly #queues = new Map<string, Queue>()
  readonly #max: number
  readonly #safetyMs: number
  #waiting = 0
  #isClosed = false

  constructor({max, safetyMs}: WaiterOptions) {
    this.#max = max
    this.#safetyMs = safetyMs
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Waits until there are messages, the time is up, the client disconnects or the server stops.
   * @throws overloaded if it would have to wait and the limit is reached; the errors of `look`
   */
  async poll(receiver: string, waiter: Waiter): Promise<void> {
    if (this.#waiting < this.#max) return this.#wait(receiver, waiter)
    if (!(await waiter.look()))
      throw new SvcError('overloaded', {reason: 'Too many requests are waiting for messages.'})
  }

  async #wait(receiver: string, {takes, look, waitMs, gone}: Waiter): Promise<void> {
    const untilMs = performance.now() + waitMs
    const queue = this.#join(receiver)
    const slot: Slot = {takes, seen: queue.notifications, offered: undefined, wake: () => {}}
    try {
      while (!gone.aborted) {
        slot.seen = queue.notifications
        if (await look()) {
          // If there may be more messages, keep the offer, so that it is passed to the next waiter.
          if (slot.offered !== queue.several) slot.offered = undefined
          return
        }
        passOn(queue, slot)
        const leftMs = untilMs - performance.now()
        if (leftMs <= 0 || this.#isClosed) return
        // A message that arrived during the check was offered only to parked waiters, so check again.
        if (queue.notifications === slot.seen) await park(queue, slot, Math.min(leftMs, this.#safetyMs), gone)
        if (this.#isClosed) return
      }
    } finally {
      passOn(queue, slot)
      this.#leave(receiver, queue)
    }
  }

  /** Must be called when a receiver gets a message. */
  notify(receiver: string): void {
    const queue = this.#queues.get(receiver)
    if (queue !== undefined) spread(queue)
  }

  /**
   * Must be called when messages of several receivers may be available, for example after a node has left.
   * @param concerns default: all receivers
   */
  notifyAll(concerns: (receiver: string) => boolean = () => true): void {
    for (const [receiver, queue] of this.#queues) {
      if (!concerns(receiver)) continue
      queue.several = queue.notifications + 1
      spread(queue)
    }
  }

  /** Makes all waiters check again. */
  wakeAll(): void {
    for (const {parked} of this.#queues.values()) for (const slot of parked) slot.wake()
  }

  /** Ends all current and future waits. */
  close(): void {
    this.#isClosed = true
    this.wakeAll()
  }

  #join(receiver: string): Queue {
    const queue = this.#queues.get(receiver) ?? {notifications: 0, several: 0, parked: new Set(), members: 0}
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
  const notification = ++queue.notifications
  for (const slot of queue.parked) if (!slot.takes) slot.wake()
  offer(queue, notification)
}

/** Wakes the first claiming waiter that has not checked since the notification. */
function offer({parked}: Queue, notification: number): void {
  for (const slot of parked) {
    if (!slot.takes || slot.seen >= notification) continue
    slot.seen = notification
    slot.offered = notification
    slot.wake()
    return
  }
}

/** Offers the notification of a waiter to the next one. */
function passOn(queue: Queue, slot: Slot): void {
  const {offered} = slot
  slot.offered = undefined
  if (offered !== undefined) offer(queue, offered)
}

/** Waits to be woken, at most `ms`. */
function park(queue: Queue, slot: Slot, ms: number, gone: AbortSignal): Promise<void> {
  let stopListening = () => {}
  const woken = new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      queue.parked.delete(slot)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    slot.wake = wake
    queue.parked.add(slot)
    stopListening = onAbort(gone, wake)
  })
  return woken.finally(stopListening)
}
