/**
 * - `open`: lines are read and requests are answered.
 * - `ended`: the client has closed its input. Its requests are answered and pending events are sent.
 * - `finishing`: requests that have been read are answered; subscriptions are ignored.
 * - `dismissed`: a last text is sent; all other input is discarded.
 * - `closed`: nothing more is processed or sent.
 */
type Life = 'open' | 'ended' | 'finishing' | 'dismissed' | 'closed'

type LifeEvent = 'inputEnded' | 'finishRequested' | 'dismissed' | 'closed'

/** State transitions. Events without an entry are ignored. */
const nextLife: Readonly<Record<Life, Partial<Record<LifeEvent, Life>>>> = {
  open: {inputEnded: 'ended', finishRequested: 'finishing', dismissed: 'dismissed', closed: 'closed'},
  ended: {finishRequested: 'finishing', dismissed: 'dismissed', closed: 'closed'},
  finishing: {dismissed: 'dismissed', closed: 'closed'},
  dismissed: {closed: 'closed'},
  closed: {},
}

/**
 * State of a connection: its life cycle, its authentication, and whether an asynchronous request is running, which
 * delays the next one.
 */
export class ConnectionState {
  #life: Life = 'open'
  #authentication: 'required' | 'done'
  #work: 'ready' | 'awaiting' = 'ready'

  constructor(authentication: 'required' | 'done') {
    this.#authentication = authentication
  }

  on(event: LifeEvent | 'authenticated' | 'requestStarted' | 'requestSettled'): void {
    if (event === 'authenticated') this.#authentication = 'done'
    else if (event === 'requestStarted') this.#work = 'awaiting'
    else if (event === 'requestSettled') this.#work = 'ready'
    else this.#life = nextLife[this.#life][event] ?? this.#life
  }

  get isAuthenticated(): boolean {
    return this.#authentication === 'done'
  }

  get isAwaiting(): boolean {
    return this.#work === 'awaiting'
  }

  get isClosed(): boolean {
    return this.#life === 'closed'
  }

  /** True if the next request can be processed, or the connection closed. */
  get isReady(): boolean {
    return this.#work === 'ready' && this.#life !== 'closed'
  }

  /** True if more input can be read. */
  get isOpen(): boolean {
    return this.#life === 'open'
  }

  /** True if arriving lines are processed; otherwise they are read and discarded. */
  get acceptsLines(): boolean {
    return this.#life !== 'dismissed' && this.#life !== 'closed'
  }

  /** True if the connection stays open until all events are sent. */
  get waitsForEvents(): boolean {
    return this.#life === 'ended'
  }
}
