export interface Transaction {
  /** Time of the transaction, Unix ms of the clock of the store. */
  readonly now: number
  /** Registers how to revert a change that was made in memory, should the transaction fail. */
  undo(revert: () => void): void
}

/** A value in memory that takes its former value again when the transaction that changed it fails. */
export class TransactionalValue<T> {
  value: T

  constructor(value: T) {
    this.value = value
  }

  set({undo}: Pick<Transaction, 'undo'>, value: T): void {
    const before = this.value
    this.value = value
    undo(() => {
      this.value = before
    })
  }
}
