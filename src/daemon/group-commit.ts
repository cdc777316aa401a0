import {SvcError} from '../errors/index.js'
import type {Store} from '../store/index.js'

/**
 * One commit for many requests: a commit costs as much as most of them, and nobody is told that a request is done
 * before the commit that holds it. Each request still is all or nothing by itself: its own transaction becomes a
 * savepoint. A group is opened and closed without anything else being done in between by this thread.
 */
export class GroupCommit {
  readonly #store: Store
  #isOpen = false

  constructor(store: Store) {
    this.#store = store
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** @throws store_busy */
  open(): void {
    if (this.#isOpen) return
    this.#store.run('BEGIN IMMEDIATE')
    this.#isOpen = true
  }

  /** Gives why nothing of the group was kept; undefined where all of it was. */
  close(): SvcError | undefined {
    if (!this.#isOpen) return undefined
    this.#isOpen = false
    try {
      this.#store.run('COMMIT')
      return undefined
    } catch (error) {
      this.#rollBack()
      return SvcError.from(error)
    }
  }

  /** A disk that is full has done so by itself. */
  #rollBack(): void {
    try {
      this.#store.run('ROLLBACK')
    } catch {
      // There is nothing to take back.
    }
  }
}
