export interface Transaction {
  /** Time of the transaction on the store's clock, Unix ms. */
  readonly now: number
  /** Registers a function that reverts a change in memory if the transaction fails. */
  undo(revert: () => void): void
}

/** Value in memory that is restored if the transaction that changed it fails. */
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
