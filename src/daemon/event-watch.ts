import {isErrorOf} from '../errors/index.js'
import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'

/** How often the store is checked for events of other processes, ms. */
const pollMs = 50

/**
 * The id of the latest event of the workspace, for all subscriptions of this process together. The store is polled only
 * while there is a subscriber.
 */
export class EventWatch {
  readonly #modules: WorkspaceModules
  readonly #orchestrator: Orchestrator
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #dataVersion: number | undefined
  #last = 0

  constructor(modules: WorkspaceModules, orchestrator: Orchestrator) {
    this.#modules = modules
    this.#orchestrator = orchestrator
  }

  /** Id of the latest known event. */
  get last(): number {
    return this.#last
  }

  /** Calls back whenever there are more events. Returns the function that ends this. */
  subscribe(listener: () => void): () => void {
    const last = this.#modules.tasks.lastEventId(this.#orchestrator)
    this.#listeners.add(listener)
    this.#timer ??= setInterval(() => this.#poll(), pollMs)
    this.notify(last)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  /** Reports an event of this process. */
  notify(id: number): void {
    if (id <= this.#last) return
    this.#last = id
    for (const listener of this.#listeners) listener()
  }

  /** Reads the store now: `data_version` does not change for what was written over the same connection. */
  refresh(): void {
    if (this.#listeners.size === 0) return
    unlessBusy(() => this.notify(this.#modules.tasks.lastEventId(this.#orchestrator)))
  }

  /** `data_version` is the cheapest query: it changes when another connection has written. */
  #poll(): void {
    unlessBusy(() => {
      const version = this.#orchestrator.store.get<{data_version: number}>('PRAGMA data_version')?.data_version
      if (version === this.#dataVersion) return
      this.notify(this.#modules.tasks.lastEventId(this.#orchestrator))
      this.#dataVersion = version
    })
  }
}

/** While another process writes for a long time, the next poll is soon enough. */
function unlessBusy(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!isErrorOf(error, 'store_busy')) throw error
  }
}
