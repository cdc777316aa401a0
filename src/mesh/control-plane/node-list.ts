import {setImmediate as nextTurn} from 'node:timers/promises'
import {nodesSchemaVersion} from '../protocol/node.js'
import {cursorOf, type NodeListQuery} from '../protocol/node-query.js'
import type {MeshStore, NodePage, NodeQuery, Scope} from '../store/mesh-store.js'
import type {ControlPlaneContext} from './context.js'

/** Nodes that are read at once: about a millisecond, so that heartbeats are answered in between. */
const sliceLength = 500

/**
 * Characters of records that are read at once, by the length of those before. More would make a text that has to have
 * pages of memory of its own, which costs more than the turns that are saved.
 */
const sliceCharacters = 100_000

/** Nodes of the first slice, whose records may have any length. */
const firstSlice = 50

/** Most bytes of the records of a page, but for a single one: a client reads no answer of any length. */
const mostBytes = 8 << 20

/** Messages are counted no further for a list. */
const mostPending = 500_000

/** A part of its own: a text that is put behind it is copied once more. */
const comma = Buffer.from(',')

/**
 * The list of nodes as JSON: the records are text already and are put together in slices. It goes by their ids, so
 * that a node which stays is in it once, whatever comes and goes meanwhile.
 */
export async function writeNodeList(
  {limit, ...query}: NodeListQuery,
  {store, scope, pending, stalePruneMs}: ControlPlaneContext,
): Promise<Buffer> {
  const depth = await pending.count(scope, undefined, mostPending)
  const head = `{"schema_version":${nodesSchemaVersion},"queue_depth":${depth},"server_time_unix_ms":${store.now()}`
  const parts: Buffer[] = [Buffer.from(`${head},"nodes":[`)]
  let size = 0
  let next: string | undefined
  for await (const page of slices(store, scope, {...query, staleAfterMs: stalePruneMs, limit})) {
    const whole = Buffer.from(page.records.join(','))
    const isFitting = size + whole.length <= mostBytes
    const records = isFitting ? page.records : fittingRecords(page.records, size)
    const part = isFitting ? whole : Buffer.from(records.join(','))
    if (size > 0 && part.length > 0) parts.push(comma)
    parts.push(part)
    size += part.length
    if (records.length < page.records.length) {
      next = records.length === 0 ? next : JSON.parse(records.at(-1) ?? '').id
      break
    }
    next = page.next
  }
  const more = next === undefined ? '' : `,"truncated":true,"next_cursor":"${cursorOf(next)}"`
  parts.push(Buffer.from(`]${more}}`))
  return Buffer.concat(parts)
}

/** The records that a page has room for, whose size is so many bytes already; of an empty one at least the first. */
function fittingRecords(records: string[], size: number): string[] {
  let sum = size
  const end = records.findIndex((record, i) => {
    sum += Buffer.byteLength(record) + 1
    return sum > mostBytes && (size > 0 || i > 0)
  })
  return end === -1 ? records : records.slice(0, end)
}

/** Pages of a query, with turns of the event loop between them. */
async function* slices(store: MeshStore, scope: Scope, query: NodeQuery): AsyncGenerator<NodePage, void, undefined> {
  let {limit, after} = query
  let length = firstSlice
  while (limit > 0) {
    const page = await store.listNodes(scope, {...query, after, limit: Math.min(limit, length)})
    yield page
    if (page.next === undefined) return
    after = page.next
    limit -= page.records.length
    length = nextSlice(page.records)
    await nextTurn()
  }
}

/** How many nodes the next slice has, where they are like those of the last. */
function nextSlice(records: readonly string[]): number {
  if (records.length === 0) return sliceLength
  const characters = records.reduce((sum, {length}) => sum + length, 0)
  return Math.min(sliceLength, Math.max(1, Math.floor((sliceCharacters * records.length) / characters)))
}
