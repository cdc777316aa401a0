import type {CacheListV1} from '../contracts/index.js'
import {counted, oneLine} from '../errors/index.js'
import type {CacheEntry} from '../weights/index.js'
import {age} from './cell-text.js'
import {megabytes} from './progress.js'
import {formatTable, type TableView, wide, wrapped} from './table.js'

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

/** A table of entries, or their ids, and a line with their number, their size and what happened to them. */
export function formatCache(entries: readonly Row[], outcome: string, view: TableView): string {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  if (view.output === 'name') return entries.map(({id}) => `${id}\n`).join('')
  const total = `${counted(entries.length, 'entry', 'entries')}, ${megabytes(bytes)} MB, ${outcome}\n`
  if (entries.length === 0) return total
  const rows = entries.map(({id, kind, model, recipe, bytes: size, last_used_at_ms: used}) => [
    id,
    `${megabytes(size)} MB`,
    kind,
    age(used),
    new Date(used).toISOString(),
    oneLine(recipe ?? '-'),
    oneLine(model ?? '-'),
  ])
  const columns = [
    wide('ENTRY'),
    'SIZE',
    'KIND',
    'UNUSED',
    wide('LAST USED'),
    wide(wrapped('RECIPE')),
    wrapped('MODEL'),
  ]
  return `${formatTable(columns, rows, view)}\n${total}`
}
