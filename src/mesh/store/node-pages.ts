import type {NodePage, NodeQuery} from './mesh-store.js'
import {briefText, type ListedNode, recordText} from './node-record.js'

/** Maximum number of nodes examined per page. A page with a selective filter may be short and have a next page. */
export const maxExamined = 5000
/** Size of the records after which a page ends, characters. */
const maxCharacters = 8 * 1024 * 1024

/** Page of the node list that is being filled with nodes in id order. */
export interface OpenPage {
  /** Id of the last node examined. */
  readonly last: string
  readonly isFull: boolean
  /** Adds the next node, unless the filter omits it or it has left. Must not be called if the page is full. */
  examine(id: string, node: ListedNode | undefined): void
  end(hasMore: boolean): NodePage
}

/** @param now store's time, Unix ms */
export function startPage(query: NodeQuery, now: number): OpenPage {
  const {limit, after = '', isBrief, labels = [], updatedSinceMs = 0, staleAfterMs = 0} = query
  const text = isBrief ? briefText : recordText
  const since = Math.max(updatedSinceMs, staleAfterMs > 0 ? now - staleAfterMs : 0)
  const records: string[] = []
  let last = after
  let examined = 0
  let characters = 0
  return {
    get last() {
      return last
    },
    get isFull() {
      return records.length === limit || characters >= maxCharacters || examined === maxExamined
    },
    examine(id, node) {
      last = id
      examined += 1
      if (node === undefined || node.seen.lastSeen < since) return
      if (!labels.every((label) => node.reported.labels.includes(label))) return
      const record = text(node, now)
      records.push(record)
      characters += record.length
    },
    end: (hasMore) => (hasMore ? {records, next: last} : {records}),
  }
}
