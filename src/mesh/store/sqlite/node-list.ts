import type {Database} from 'better-sqlite3'
import type {NodePage, NodeQuery, Scope} from '../mesh-store.js'
import {maxExamined, startPage} from '../node-pages.js'
import type {NodeRegistry} from './node-registry.js'

/** Lists nodes in id order, which comes from the index; the nodes themselves are in memory. */
export function createNodeList(database: Database, nodes: NodeRegistry) {
  const idsAfter = database
    .prepare<[string, string, number], string>(
      'SELECT node_id FROM mesh_nodes WHERE scope_id = ? AND node_id > ? ORDER BY node_id LIMIT ?',
    )
    .pluck()

  return (scope: Scope, query: NodeQuery, now: number): NodePage => {
    const page = startPage(query, now)
    const part = Math.min(query.limit, maxExamined)
    for (;;) {
      // One more id shows whether there are more.
      const ids = idsAfter.all(scope, page.last, part + 1)
      for (const id of ids.slice(0, part)) {
        if (page.isFull) return page.end(true)
        page.examine(id, nodes.present(scope, id))
      }
      if (ids.length <= part) return page.end(false)
      if (page.isFull) return page.end(true)
    }
  }
}
