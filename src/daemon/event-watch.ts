import {isErrorOf} from '../errors/index.js'
import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'

/** Between two looks at the store for what other processes wrote, ms. */
const pollMs = 50

/**
 * Knows how far the events of the workspace have come, for all subscriptions of this process together. The store is
 * looked at only while somebody listens.
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

  /** Id of the latest event that is known of. */
  get last(): number {
    return this.#last
  }

  /** Calls back whenever there are more events, until what it gives is called. */
  listen(listener: () => void): () => void {
    const last = this.#modules.tasks.lastEventId(this.#orchestrator)
    this.#listeners.add(listener)
    this.#timer ??= setInterval(() => this.#poll(), pollMs)
    this.saw(last)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  /** Told of an event by those who know of it first. */
  saw(id: number): void {
    if (id <= this.#last) return
    this.#last = id
    for (const listener of this.#listeners) listener()
  }

  /** Looks now: something was written over the connection that this one reads through, which does not tell so. */
  look(): void {
    if (this.#listeners.size === 0) return
    unlessBusy(() => this.saw(this.#modules.tasks.lastEventId(this.#orchestrator)))
  }

  /** The version of the data is the cheapest question: it changes when another connection has written. */
  #poll(): void {
    unlessBusy(() => {
      const version = this.#orchestrator.store.get<{data_version: number}>('PRAGMA data_version')?.data_version
      if (version === this.#dataVersion) return
      this.saw(this.#modules.tasks.lastEventId(this.#orchestrator))
      this.#dataVersion = version
    })
  }
}

/** Where somebody writes for a long time, the next look is soon enough. */
function unlessBusy(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!isErrorOf(error, 'store_busy')) throw error
  }
}
