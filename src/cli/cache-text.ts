import type {CacheListV1} from '../contracts/index.js'
import {counted, oneLine} from '../errors/index.js'
import type {CacheEntry} from '../weights/index.js'
import {megabytes} from './progress.js'
import {formatTable} from './table.js'

type Row = CacheListV1['entries'][number]

/** An entry of the cache as commands print it with `--json`. */
export const cacheEntryRow = ({id, kind, model, recipe, bytes, lastUsedMs}: CacheEntry): Row => ({
  id,
  kind,
  model: model || null,
  recipe: recipe || null,
  bytes,
  last_used_at_ms: lastUsedMs,
})

/** A table of entries, and a line with their number, their size and what happened to them. */
export function formatCache(entries: readonly Row[], outcome: string, width: number | undefined): string {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  const total = `${counted(entries.length, 'entry', 'entries')}, ${megabytes(bytes)} MB, ${outcome}\n`
  if (entries.length === 0) return total
  const rows = entries.map(({kind, model, recipe, bytes: size, last_used_at_ms: used}) => [
    new Date(used).toISOString().slice(0, 16).replace('T', ' '),
    `${megabytes(size)} MB`,
    kind,
    oneLine(recipe ?? '-'),
    oneLine(model ?? '-'),
  ])
  return `${formatTable(['LAST USED (UTC)', 'SIZE', 'KIND', 'RECIPE', 'MODEL'], rows, width)}\n${total}`
}
