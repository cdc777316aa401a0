/** Start of the next page of a list. Clients receive it as an opaque cursor. */
export type Place = {tasksBefore: number} | {chatsFrom: number} | {callsFrom: number}

export const toCursor = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

/** Parses a cursor; undefined if this server did not create it. */
export function fromCursor(cursor: string): Place | undefined {
  try {
    const place = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as Partial<Record<string, unknown>>
    const {tasksBefore, chatsFrom, callsFrom} = place
    if (isCount(tasksBefore)) return {tasksBefore}
    if (isCount(callsFrom)) return {callsFrom}
    return isCount(chatsFrom) ? {chatsFrom} : undefined
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
