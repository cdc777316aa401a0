import type {Random} from '../support/random.js'

/** Statistics of the clients of a server. */
export class Tally {
  requests = 0
  /** Requests aborted on purpose. */
  aborted = 0
  /** Number and first examples of unexpected responses and failed connections. */
  unexpected = 0
  readonly examples: string[] = []

  fault(what: string): void {
    this.unexpected++
    if (this.examples.length < 10) this.examples.push(what)
  }
}

/** Random words with a maximum total length; at least one word. */
export function randomText(random: Random, max: number): string {
  const letters = [...'abcdefghijklmnopqrstuvwxyz   äß漢🙂']
  return Array.from({length: 1 + random.below(max)}, () => random.pick(letters)).join('')
}

/** Context of a client. */
export interface Visit {
  address: string
  /** 0-based index among the clients of the server. */
  index: number
  random: Random
  tally: Tally
}

export interface Client {
  /** Sends one request, or a few related ones. */
  step(): Promise<void>
  /** Deletes its data on the server and closes its connections. */
  close(): Promise<void>
}

/** Server under test and its clients. */
export interface Service {
  name: string
  /** Returns the command line; `folder` is writable. */
  prepare(folder: string): Promise<readonly string[]>
  /** Member of the ready line that contains the address. */
  address: 'base_url' | 'addr'
  /** Number of concurrent clients. */
  clients: number
  connect(visit: Visit): Promise<Client>
  /** Brings an idle server into the state for counting handles. */
  settle?(visit: Visit): Promise<void>
}
