import {createHash} from 'node:crypto'
import {setImmediate as nextIteration} from 'node:timers/promises'
import {nodesSchemaVersion} from '../protocol/node.js'
import {cursorOf, type NodeListQuery} from '../protocol/node-query.js'
import type {MeshStore, NodePage, NodeQuery, Scope} from '../store/mesh-store.js'
import type {Cacheable} from './cacheable.js'
import type {ControlPlaneContext} from './context.js'
import {nextHeartbeatMs} from './heartbeat-interval.js'

/** Maximum number of nodes per slice, about 1 ms of work, so that heartbeats can be answered in between. */
const sliceLength = 500

/**
 * Target size of a slice, characters, estimated from the previous slice. Longer strings would be allocated in the
 * large-object space, which costs more than the saved event-loop iterations.
 */
const sliceCharacters = 100_000

/** Number of nodes in the first slice, before the length of the records is known. */
const firstSlice = 50

/** Maximum size of a page with more than one node, bytes: clients limit the size of responses. */
const maxBytes = 8 << 20

/** Maximum reported queue depth. */
const maxPending = 500_000

/** Separate buffer, because appending it to a slice would copy the slice. */
const comma = Buffer.from(',')

/**
 * Writes the list of nodes as JSON by concatenating the record texts in slices. It is ordered by id, so that each node
 * is listed exactly once even if others join and leave meanwhile.
 */
export async function writeNodeList(
  {limit, ...query}: NodeListQuery,
  context: ControlPlaneContext,
): Promise<Cacheable> {
  const {store, scope, pending, stalePruneMs} = context
  const depth = await pending.count(scope, undefined, maxPending)
  const nextMs = await nextHeartbeatMs(context)
  const parts: Buffer[] = []
  const hash = createHash('sha256').update(`${nodesSchemaVersion} ${depth} ${nextMs}`)
  const add = (part: Buffer) => {
    parts.push(part)
    hash.update(part)
  }
  let size = 0
  let next: string | undefined
  for await (const page of slices(store, scope, {...query, staleAfterMs: stalePruneMs, limit})) {
    const slice = Buffer.from(page.records.join(','))
    const fits = size + slice.length <= maxBytes
    const records = fits ? page.records : fittingRecords(page.records, size)
    const part = fits ? slice : Buffer.from(records.join(','))
    if (size > 0 && part.length > 0) add(comma)
    add(part)
    size += part.length
    if (records.length < page.records.length) {
      next = records.length === 0 ? next : JSON.parse(records.at(-1) ?? '').id
      break
    }
    next = page.next
  }
  const more = next === undefined ? '' : `,"truncated":true,"next_cursor":"${cursorOf(next)}"`
  add(Buffer.from(`]${more}}`))
  // The time is read last, so that no node was last seen after it.
  const head = `{"schema_version":${nodesSchemaVersion},"queue_depth":${depth},"server_time_unix_ms":${store.now()}`
  return {
    body: Buffer.concat([Buffer.from(`${head},"next_heartbeat_ms":${nextMs},"nodes":[`), ...parts]),
    etag: `W/"${hash.digest('base64url')}"`,
  }
}

/** Records that fit on a page of `size` bytes; at least one if the page is empty. */
function fittingRecords(records: string[], size: number): string[] {
  let sum = size
  const end = records.findIndex((record, i) => {
    sum += Buffer.byteLength(record) + 1
    return sum > maxBytes && (size > 0 || i > 0)
  })
  return end === -1 ? records : records.slice(0, end)
}

/** Yields the slices of a query, with an event-loop iteration between them. */
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
    await nextIteration()
  }
}

/** Number of nodes in the next slice, assuming records of similar length. */
function nextSlice(records: readonly string[]): number {
  if (records.length === 0) return sliceLength
  const characters = records.reduce((sum, {length}) => sum + length, 0)
  return Math.min(sliceLength, Math.max(1, Math.floor((sliceCharacters * records.length) / characters)))
}
