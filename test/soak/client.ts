import {uniformFloats} from '../support/random-floats.js'

/** What the clients of one server have done. */
export class Tally {
  requests = 0
  /** Requests that the client broke off on purpose. */
  aborted = 0
  /** Answers that no client should get, and connections that failed: how many, and the first of them. */
  unexpected = 0
  readonly examples: string[] = []

  fault(what: string): void {
    this.unexpected++
    if (this.examples.length < 10) this.examples.push(what)
  }
}

/** A seeded source of choices. */
export class Random {
  readonly #uniform: () => number

  constructor(seed: number) {
    this.#uniform = uniformFloats(seed)
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#uniform() * end)
  }

  chance(probability: number): boolean {
    return this.#uniform() < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** Words of up to so many characters in all, at least one. */
  text(longest: number): string {
    const letters = 'abcdefghijklmnopqrstuvwxyz   äß漢🙂'
    return Array.from({length: 1 + this.below(longest)}, () => this.pick([...letters])).join('')
  }
}

/** What a client is given. */
export interface Visit {
  address: string
  /** Which of the clients of its server it is, from 0. */
  index: number
  random: Random
  tally: Tally
}

export interface Client {
  /** Makes one request, or a few that belong together. */
  step(): Promise<void>
  /** Removes what it has left in the server, and closes its connections. */
  close(): Promise<void>
}

/** A server, and how it is used. */
export interface Service {
  name: string
  /** Flags and arguments of its command, in a folder that it may write to. */
  prepare(folder: string): Promise<readonly string[]>
  /** The member of the ready line that holds the address. */
  address: 'base_url' | 'addr'
  /** How many clients use it at once. */
  clients: number
  connect(visit: Visit): Promise<Client>
  /** Brings an idle server into the state in which its handles are counted. */
  settle?(visit: Visit): Promise<void>
}
