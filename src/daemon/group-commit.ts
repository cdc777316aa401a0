import {SvcError} from '../errors/index.js'
import type {Store} from '../store/index.js'

/**
 * Commits several requests together, since a commit costs more than most requests. Responses are sent only after the
 * commit. Each request stays atomic: its transaction becomes a savepoint. No other code of this thread runs between the
 * opening and closing of a group.
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

  /** Commits the group. @returns the error if it was rolled back; undefined on success */
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

  /** SQLite has already rolled back if the disk is full. */
  #rollBack(): void {
    try {
      this.#store.run('ROLLBACK')
    } catch {
      // Nothing to roll back.
    }
  }
}
