import type {Database} from 'better-sqlite3'
import type {NodePage, NodeQuery, Scope} from '../mesh-store.js'
import {briefText, type KnownNode, recordText} from './node-record.js'
import type {NodeRegistry} from './node-registry.js'

/** Maximum number of nodes examined per page. A page with a selective filter may be short and have a next page. */
const maxExamined = 5000
/** Size of the records after which a page ends, characters. */
const maxCharacters = 8 * 1024 * 1024

/** Lists nodes in id order, which comes from the index; the nodes themselves are in memory. */
export function createNodeList(database: Database, nodes: NodeRegistry) {
  const idsAfter = database
    .prepare<[string, string, number], string>(
      'SELECT node_id FROM mesh_nodes WHERE scope_id = ? AND node_id > ? ORDER BY node_id LIMIT ?',
    )
    .pluck()

  return (scope: Scope, query: NodeQuery, now: number): NodePage => {
    const {limit, after = ''} = query
    const text = query.isBrief ? briefText : recordText
    const matches = filterOf(query, now)
    const part = Math.min(limit, maxExamined)
    const records: string[] = []
    let last = after
    let characters = 0
    for (let examined = 0; examined < maxExamined; examined += part) {
      // One more id shows whether there are more.
      const ids = idsAfter.all(scope, last, part + 1)
      for (const id of ids.slice(0, part)) {
        if (records.length === limit || characters >= maxCharacters) return {records, next: last}
        const node = nodes.present(scope, id)
        if (node !== undefined && matches(node)) {
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
