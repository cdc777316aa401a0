import {DatabaseFailure} from './failure.js'

/** The last row of a page: its sort keys, and the order that they belong to. */
type Cursor = [order: string, ...keys: (string | number | null)[]]

/** Writes a cursor, which programs and clients only pass on. */
export const writeCursor = (order: string, keys: readonly unknown[]): string =>
  Buffer.from(JSON.stringify([order, ...keys])).toString('base64url')

/** @throws DatabaseFailure if the text is not a cursor of this order */
function readCursor(text: unknown, order: string, size: number): Cursor {
  try {
    const cursor: unknown = JSON.parse(Buffer.from(String(text), 'base64url').toString())
    if (Array.isArray(cursor) && cursor[0] === order && cursor.length === size + 1 && cursor.slice(1).every(isKey))
      return cursor as Cursor
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new DatabaseFailure('input', 'the cursor does not belong to this list; start without one')
}

const isKey = (key: unknown) => key === null || typeof key === 'string' || typeof key === 'number'

/** Reads one sort key of a cursor, as SQLite can bind it. */
export function cursorKey({cursor: i, of, encoding}: {cursor: number; of: string; encoding: string}) {
  const size = of.split(',').length
  return (value: unknown): bigint | number | string | null => {
    const key = readCursor(value, of, size)[i + 1] ?? null
    if (typeof key === 'number' && (encoding === 'integer' || encoding === 'millis') && Number.isSafeInteger(key))
      return BigInt(key)
    return key
  }
}
