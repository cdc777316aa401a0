import {cursorId, keyName, type Plan, pageKeys} from '../plan/index.js'
import type {Run} from './context.js'
import {writeCursor} from './cursor.js'
import {decoderOf} from './included.js'

/** Reads a page of rows and, if there are more, the cursor of the next one. */
export function page(plan: Plan): Run {
  const {sql, first, params, chain} = plan
  const keys = pageKeys(chain)
  const order = cursorId(keys)
  const names = keys.map((_, i) => keyName(i))
  const decode = decoderOf(plan)
  const isCursor = params.map(({encoding}) => typeof encoding === 'object' && 'cursor' in encoding)
  // The last key is the id, which is never NULL.
  const idAt = isCursor.lastIndexOf(true)
  return (values, {connection}) => {
    const isFirst = idAt === -1 || values[idAt] === null
    const statement = connection.statement(isFirst ? (first?.sql ?? sql) : sql)
    const found = statement.all(...(isFirst ? values.filter((_, i) => isCursor[i] !== true) : values))
    const size = Number(values.at(-1)) - 1
    const last = found.length > size ? found[size - 1] : undefined
    const next =
      last === undefined
        ? null
        : writeCursor(
            order,
            names.map((name) => last[name]),
          )
    const items = found.slice(0, size)
    for (const row of items) {
      for (const name of names) delete row[name]
      decode(row)
    }
    return {items, next}
  }
}
