import {onAbort, startTimer, type Timer} from '../../process/index.js'
import type {ActivityKind} from '../definition/definition.js'
import {Suspension} from './control-errors.js'

/** What an activity waits for. @property key of a signal or an approval */
export interface WaitingFor {
  readonly name: string
  readonly kind: ActivityKind
  readonly key?: string | undefined
  readonly prompt?: string | undefined
}

/** A wait of an activity. */
export interface Condition extends WaitingFor {
  /** When to look again although nothing has changed, Unix ms. */
  readonly wakeAtMs: number | undefined
  isReady(): boolean
}

interface Wait {
  readonly condition: Condition
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** The activities of a run that wait. If nothing else runs, the run can leave the process. */
export class Waits {
  readonly #now: () => number
  readonly #onIdle: () => void
  readonly #waits = new Set<Wait>()
  #working = 0
  #timer: Timer | undefined

  /** @param onIdle called when all activities of the run wait */
  constructor(now: () => number, onIdle: () => void) {
    this.#now = now
    this.#onIdle = onIdle
  }

  /** The earliest time at which a wait can end without a change, Unix ms. */
  get wakeAtMs(): number | undefined {
    const times = [...this.#waits].flatMap(({condition}) => condition.wakeAtMs ?? [])
    return times.length === 0 ? undefined : Math.min(...times)
  }

  get isReady(): boolean {
    return [...this.#waits].some(({condition}) => condition.isReady())
  }

  get waitingFor(): readonly WaitingFor[] {
    return [...this.#waits].map(({condition: {name, kind, key, prompt}}) => ({name, kind, key, prompt}))
  }

  /** Runs work during which the run stays in the process. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#working++
    try {
      return await work()
    } finally {
      this.#working--
      this.#schedule()
    }
  }

  /** Waits until a condition is met. @throws the reason of the signal; Suspension */
  until(condition: Condition, signal: AbortSignal): Promise<void> {
    let stopListening = () => {}
    const ended = new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#waits.delete(wait)
        settle()
        this.#schedule()
      }
      const wait: Wait = {
        condition,
        resolve: () => end(resolve),
        reject: (reason) => end(() => reject(reason)),
      }
      this.#waits.add(wait)
      stopListening = onAbort(signal, wait.reject)
      this.#schedule()
    })
    return ended.finally(stopListening)
  }

  /** Ends the waits whose conditions are met. */
  check(): void {
    for (const wait of [...this.#waits]) if (wait.condition.isReady()) wait.resolve()
    // A timer can fire a little early.
    this.#schedule()
  }

  /** Ends all waits, since the run leaves the process. @returns what they waited for */
  suspend(): readonly Condition[] {
    const waits = [...this.#waits]
    for (const wait of waits) wait.reject(new Suspension('The run waits.'))
    return waits.map(({condition}) => condition)
  }

  close(): void {
    this.#timer?.stop()
    this.#timer = undefined
  }

  #schedule(): void {
    this.#timer?.stop()
    this.#timer = undefined
    const at = this.wakeAtMs
    if (at !== undefined) this.#timer = startTimer(() => this.check(), at - this.#now())
    // What follows an activity starts in a microtask.
    if (this.#working === 0 && this.#waits.size > 0)
      setImmediate(() => {
        if (this.#working === 0 && this.#waits.size > 0) this.#onIdle()
      })
  }
}
