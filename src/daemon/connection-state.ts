/**
 * - `open`: lines are read, and requests answered.
 * - `ended`: the client has sent its last line. What it sent is answered, and the events up to then are sent.
 * - `finishing`: what has been read is answered, whatever the client has subscribed to.
 * - `dismissed`: the client gets its last words; what else it sent is not looked at.
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
 * The state of a connection: its life, whether the client is admitted, which it stays, and whether the answer of one
 * request is awaited before the next request is performed.
 */
export class ConnectionState {
  #life: Life = 'open'
  #admission: 'required' | 'granted'
  #work: 'ready' | 'awaiting' = 'ready'

  constructor(admission: 'required' | 'granted') {
    this.#admission = admission
  }

  on(event: LifeEvent | 'admitted' | 'requestStarted' | 'requestSettled'): void {
    if (event === 'admitted') this.#admission = 'granted'
    else if (event === 'requestStarted') this.#work = 'awaiting'
    else if (event === 'requestSettled') this.#work = 'ready'
    else this.#life = nextLife[this.#life][event] ?? this.#life
  }

  get isAdmitted(): boolean {
    return this.#admission === 'granted'
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

  /** Whether a line that arrives is a request; what comes after the end is read to be thrown away. */
  get acceptsLines(): boolean {
    return this.#life !== 'dismissed' && this.#life !== 'closed'
  }

  /** Whether events that have not been sent keep the connection from its end. */
  get waitsForEvents(): boolean {
    return this.#life === 'ended'
  }
}
