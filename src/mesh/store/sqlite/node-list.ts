import type {Database} from 'better-sqlite3'
import type {NodePage, NodeQuery, Scope} from '../mesh-store.js'
import {briefText, type KnownNode, recordText} from './node-record.js'
import type {NodeRegistry} from './node-registry.js'

/** Nodes that a page looks at where a filter lets few through: it is short then, and says where to go on. */
const mostLookedAt = 5000
/** Characters of the records of a page, after which it is short too. */
const mostCharacters = 8 * 1024 * 1024

/** Lists nodes in the order of their ids. The order is that of the index; the nodes themselves are in memory. */
export function createNodeList(database: Database, nodes: NodeRegistry) {
  const idsAfter = database
    .prepare<[string, string, number], string>(
      'SELECT node_id FROM mesh_nodes WHERE scope_id = ? AND node_id > ? ORDER BY node_id LIMIT ?',
    )
    .pluck()

  return (scope: Scope, query: NodeQuery, now: number): NodePage => {
    const {limit, after = ''} = query
    const text = query.isBrief ? briefText : recordText
    const isWanted = filterOf(query, now)
    const part = Math.min(limit, mostLookedAt)
    const records: string[] = []
    let last = after
    let characters = 0
    for (let looked = 0; looked < mostLookedAt; looked += part) {
      // One more than is looked at shows whether there are more.
      const ids = idsAfter.all(scope, last, part + 1)
      for (const id of ids.slice(0, part)) {
        if (records.length === limit || characters >= mostCharacters) return {records, next: last}
        const node = nodes.present(scope, id)
        if (node !== undefined && isWanted(node)) {
          const record = text(node, now)
          records.push(record)
          characters += record.length
        }
        last = id
      }
      if (ids.length <= part) return {records}
      if (records.length === limit) break
    }
    return {records, next: last}
  }
}

function filterOf({labels = [], updatedSinceMs = 0, staleAfterMs = 0}: NodeQuery, now: number) {
  const since = Math.max(updatedSinceMs, staleAfterMs > 0 ? now - staleAfterMs : 0)
  return ({reported, seen}: KnownNode) =>
    seen.lastSeen >= since && labels.every((label) => reported.labels.includes(label))
}
