/** Whose request it is. */
export interface RequestClient {
  id: string
  /** Tokens that it gets for each token of a client of weight 1, while both have requests that wait. */
  weight: number
  /** Part of the queue that its requests may fill, 0 to 1. */
  share: number
}

/** All requests without a client are of this one. */
export const anyClient: RequestClient = {id: '', weight: 1, share: 1}

interface Account<T> {
  /** Tokens that were computed for the client, divided by its weight. */
  served: number
  waiting: T[]
}

/**
 * Waiting requests of several clients. The next one is the oldest of the client that was served least, so that clients share
 * the model by their weights, however many requests they send. A client that comes back does not get what it missed: it
 * continues where the least served of the waiting clients is. Source: virtual token counters, Sheng et al., Fairness in
 * Serving Large Language Models, OSDI 2024.
 */
export class FairQueue<T extends {readonly client: RequestClient}> {
  readonly #accounts = new Map<string, Account<T>>()
  /** What the client of the last taken request had been served. */
  #lastServed = 0

  get length(): number {
    let count = 0
    for (const {waiting} of this.#accounts.values()) count += waiting.length
    return count
  }

  get items(): T[] {
    return [...this.#accounts.values()].flatMap(({waiting}) => waiting)
  }

  add(item: T): void {
    const account = this.#account(item.client)
    if (account.waiting.length === 0)
      account.served = Math.max(account.served, this.#leastServed()?.served ?? this.#lastServed)
    account.waiting.push(item)
  }

  delete(item: T): void {
    const {waiting} = this.#account(item.client)
    waiting.splice(waiting.indexOf(item), 1)
  }

  /** Adds a request that was taken and stopped, before the others of its client. */
  putBack(item: T): void {
    this.#account(item.client).waiting.unshift(item)
  }

  /** The next request that can start; undefined if none can. */
  next(isReady: (item: T) => boolean = () => true): T | undefined {
    return this.#leastServed(isReady)?.waiting.find(isReady)
  }

  /** Removes and returns the next request that can start; undefined if none can. */
  take(isReady?: (item: T) => boolean): T | undefined {
    const item = this.next(isReady)
    if (item === undefined) return undefined
    this.#lastServed = this.served(item.client)
    this.delete(item)
    return item
  }

  /** Adds tokens that were computed for a client. */
  charge(client: RequestClient, tokens: number): void {
    this.#account(client).served += tokens / client.weight
  }

  /** What was computed for a client, to compare with others. */
  served(client: RequestClient): number {
    return this.#account(client).served
  }

  /** Of the clients with a request that can start. */
  #leastServed(isReady: (item: T) => boolean = () => true): Account<T> | undefined {
    let least: Account<T> | undefined
    for (const account of this.#accounts.values())
      if (account.waiting.some(isReady) && (least === undefined || account.served < least.served)) least = account
    return least
  }

  #account({id}: RequestClient): Account<T> {
    const known = this.#accounts.get(id)
    if (known !== undefined) return known
    const account: Account<T> = {served: 0, waiting: []}
    this.#accounts.set(id, account)
    return account
  }
}
