import {SvcError} from '../errors/index.js'

/** A model that needs memory while it is loaded. */
export interface Resident {
  readonly name: string
  /** Approximate memory of the loaded model. */
  readonly memoryBytes: number
  readonly isBusy: boolean
  /** ms, on the clock of `performance`. */
  readonly lastUsed: number
  /** Unloads the model when its running requests have ended. */
  retire(): Promise<void>
}

/** The memory for loaded models. The least recently used ones make room for others. */
export class MemoryRoom {
  readonly #limitBytes: number
  readonly #residents = new Map<Resident, number>()
  #last: Promise<unknown> = Promise.resolve()

  /** @param limitBytes of all loaded models together */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get usedBytes(): number {
    return [...this.#residents.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  get size(): number {
    return this.#residents.size
  }

  /** Counts a loaded model. @throws model_too_large */
  add(resident: Resident): void {
    this.#requireFit(resident)
    this.#residents.set(resident, resident.memoryBytes)
  }

  delete(resident: Resident): void {
    this.#residents.delete(resident)
  }

  /**
   * Makes room for a model and counts it; one model after the other, in the order of the calls. Running replies of other
   * models end first.
   * @throws model_too_large; the reason of the signal
   */
  admit(resident: Resident, signal: AbortSignal): Promise<void> {
    const admitted = this.#last.then(() => this.#makeRoom(resident, signal))
    this.#last = admitted.catch(() => undefined)
    return admitted
  }

  async #makeRoom(resident: Resident, signal: AbortSignal): Promise<void> {
    this.#requireFit(resident)
    while (this.usedBytes + resident.memoryBytes > this.#limitBytes) {
      signal.throwIfAborted()
      await this.#leastUsed?.retire()
    }
    signal.throwIfAborted()
    this.add(resident)
  }

  #requireFit({name: model, memoryBytes: bytes}: Resident): void {
    const limit = this.#limitBytes
    if (bytes > limit) throw new SvcError('model_too_large', {model, bytes, limit})
  }

  /** Idle models first. */
  get #leastUsed(): Resident | undefined {
    const order = (a: Resident, b: Resident) => Number(a.isBusy) - Number(b.isBusy) || a.lastUsed - b.lastUsed
    return [...this.#residents.keys()].sort(order)[0]
  }
}
