import {isErrorOf} from '../errors/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {WorkspaceModules} from './context.js'

/** Poll interval for events of other processes, ms. */
const pollMs = 50

/**
 * Tracks the id of the latest event of the workspace for all subscriptions of this process. The store is polled only
 * while there are subscribers.
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

  /** Calls the listener whenever there are new events. @returns function that unsubscribes */
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

  /** Checks for events written over this connection, which do not change `data_version`. */
  refresh(): void {
    if (this.#listeners.size === 0) return
    unlessBusy(() => this.notify(this.#modules.tasks.lastEventId(this.#orchestrator)))
  }

  /** Checks `data_version` first: the cheapest query, and it changes when another connection has written. */
  #poll(): void {
    unlessBusy(() => {
      const version = this.#orchestrator.store.get<{data_version: number}>('PRAGMA data_version')?.data_version
      if (version === this.#dataVersion) return
      this.notify(this.#modules.tasks.lastEventId(this.#orchestrator))
      this.#dataVersion = version
    })
  }
}

/** Skips the work while another process holds the lock; the next poll will do it. */
export function unlessBusy(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!isErrorOf(error, 'store_busy')) throw error
  }
}
