import type {Database} from 'better-sqlite3'
import {meetsRequirements} from '../../protocol/meets-requirements.js'
import type {CapabilityHints, NodeFacts} from '../../protocol/node.js'
import type {KnownNode} from '../node-record.js'

/** SQL condition: the node of `Requirements.of` meets the requirements of a message. */
export const isMet = '(requirements IS NULL OR mesh_meets(requirements))'

/** Compares the requirements of messages with the capabilities of a node in an SQL function. */
export class Requirements {
  #offered: CapabilityHints | undefined
  #record = '{}'
  /** Results for the current node: many messages have the same requirements. */
  readonly #results = new Map<string, boolean>()

  constructor(database: Database) {
    database.function('mesh_meets', (needed) => Number(this.#isMet(String(needed))))
  }

  /** Must be called before each query with the condition. */
  of({reported}: KnownNode): void {
    this.#record = reported.record
    this.#offered = undefined
    this.#results.clear()
  }

  #isMet(needed: string): boolean {
    // Parsed only if there is a message with requirements.
    this.#offered ??= (JSON.parse(this.#record) as Partial<NodeFacts>).capabilities ?? {}
    const result = this.#results.get(needed) ?? meetsRequirements(this.#offered, JSON.parse(needed) as CapabilityHints)
    this.#results.set(needed, result)
    return result
  }
}
