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
interface Room {
  /** How often something came while anybody was here. */
  news: number
  /** The last news that may be of several messages. */
  several: number
  /** In the order of their coming. */
  parked: Set<Place>
  guests: number
}

interface Place {
  takes: boolean
  /** The news that its last look took in. */
  seen: number
  /** The news that it was woken for, and that nobody else looks after until it has. */
  offered: number | undefined
  wake(): void
}

/**
 * Long polls, by receiver. Whoever delivers tells the news; of those who would take the message away only the one that
 * waits for longest is woken, and where it comes back with nothing the news goes to the next.
 */
export class Waiters {
  readonly #rooms = new Map<string, Room>()
  readonly #most: number
  readonly #safetyMs: number
  #waiting = 0
  #isClosed = false

  constructor({most, safetyMs}: WaiterOptions) {
    this.#most = most
    this.#safetyMs = safetyMs
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Looks until there is something, time is up, the client has gone or the server stops.
   * @throws overloaded where it would have to wait and too many do; what `look` throws
   */
  async poll(receiver: string, waiter: Waiter): Promise<void> {
    if (this.#waiting < this.#most) return this.#stay(receiver, waiter)
    if (!(await waiter.look())) throw new SvcError('overloaded', {reason: 'Too many requests wait for messages.'})
  }

  async #stay(receiver: string, {takes, look, waitMs, gone}: Waiter): Promise<void> {
    const untilMs = performance.now() + waitMs
    const room = this.#enter(receiver)
    const place: Place = {takes, seen: room.news, offered: undefined, wake: () => {}}
    try {
      while (!gone.aborted) {
        place.seen = room.news
        if (await look()) {
          // Of several messages, the others are for the next.
          if (place.offered !== room.several) place.offered = undefined
          return
        }
        passOn(room, place)
        const leftMs = untilMs - performance.now()
        if (leftMs <= 0 || this.#isClosed) return
        // What came during the look was told to those who were parked, and may be for this one.
        if (room.news === place.seen) await park(room, place, Math.min(leftMs, this.#safetyMs), gone)
        if (this.#isClosed) return
      }
    } finally {
      passOn(room, place)
      this.#leave(receiver, room)
    }
  }

  /** Something is there for a receiver. */
  tell(receiver: string): void {
    const room = this.#rooms.get(receiver)
    if (room !== undefined) spread(room)
  }

  /** Something may be there for anybody: a node has left its messages. */
  tellAll(): void {
    for (const room of this.#rooms.values()) {
      room.several = room.news + 1
      spread(room)
    }
  }

  /** Everyone looks again, without any news. */
  wakeAll(): void {
    for (const {parked} of this.#rooms.values()) for (const place of parked) place.wake()
  }

  /** Everyone comes back with nothing, now and from now on. */
  close(): void {
    this.#isClosed = true
    this.wakeAll()
  }

  #enter(receiver: string): Room {
    const room = this.#rooms.get(receiver) ?? {news: 0, several: 0, parked: new Set(), guests: 0}
    this.#rooms.set(receiver, room)
    room.guests++
    this.#waiting++
    return room
  }

  #leave(receiver: string, room: Room): void {
    room.guests--
    this.#waiting--
    if (room.guests === 0) this.#rooms.delete(receiver)
  }
}

function spread(room: Room): void {
  const news = ++room.news
  for (const place of room.parked) if (!place.takes) place.wake()
  offer(room, news)
}

/** Wakes the first of those who would take the message and have not looked since. */
function offer({parked}: Room, news: number): void {
  for (const place of parked) {
    if (!place.takes || place.seen >= news) continue
    place.seen = news
    place.offered = news
    place.wake()
    return
  }
}

/** What a place was woken for is for the next one. */
function passOn(room: Room, place: Place): void {
  const {offered} = place
  place.offered = undefined
  if (offered !== undefined) offer(room, offered)
}

/** Waits to be woken, for at most so long. */
function park(room: Room, place: Place, ms: number, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      gone.removeEventListener('abort', wake)
      room.parked.delete(place)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    gone.addEventListener('abort', wake, {once: true})
    place.wake = wake
    room.parked.add(place)
  })
}
