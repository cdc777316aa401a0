/**
 * - `open`: lines are read, and requests answered.
 * - `ended`: the client has sent its last line. What it sent is answered, and the events up to then are sent.
 * - `finishing`: what has been read is answered, whatever the client has subscribed to.
 * - `dismissed`: the client gets a last text; everything else that it sent is discarded.
 * - `closed`: nothing is done for it any more.
 */
type Life = 'open' | 'ended' | 'finishing' | 'dismissed' | 'closed'

type LifeEvent = 'inputEnded' | 'finishRequested' | 'dismissed' | 'closed'

/** An event that a state has no row for changes nothing. */
const nextLife: Readonly<Record<Life, Partial<Record<LifeEvent, Life>>>> = {
  open: {inputEnded: 'ended', finishRequested: 'finishing', dismissed: 'dismissed', closed: 'closed'},
  ended: {finishRequested: 'finishing', dismissed: 'dismissed', closed: 'closed'},
  finishing: {dismissed: 'dismissed', closed: 'closed'},
  dismissed: {closed: 'closed'},
  closed: {},
}

/**
 * The state of a connection: its life, whether the client has shown a valid token where one is required, and whether the answer of one
 * request is awaited before the next request is performed.
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

  /** Whether the next request may be performed, or the connection closed. */
  get isReady(): boolean {
    return this.#work === 'ready' && this.#life !== 'closed'
  }

  /** Whether more may be read. */
  get isOpen(): boolean {
    return this.#life === 'open'
  }

  /** Whether a line that arrives is a request; later ones are read and discarded. */
  get acceptsLines(): boolean {
    return this.#life !== 'dismissed' && this.#life !== 'closed'
  }

  /** Whether the connection stays open until all events are sent. */
  get waitsForEvents(): boolean {
    return this.#life === 'ended'
  }
}
