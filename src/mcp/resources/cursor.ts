/** Start of a page of the resources: tasks come first, then chats. */
export type ResourcePlace = {tasksBefore: number} | {chatsFrom: number}
/** Start of a page of the tasks of the protocol: orchestrator tasks come first, then calls in the background. */
export type TaskPlace = {tasksBefore: number} | {callsFrom: number}

export const toCursor = (place: ResourcePlace | TaskPlace): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url')

/**
 * Parses a cursor, which clients receive as opaque.
 * @param rest what follows the tasks in the list
 * @returns undefined if this server did not create the cursor for such a list
 */
export function fromCursor<K extends 'chatsFrom' | 'callsFrom'>(
  cursor: string,
  rest: K,
): {tasksBefore: number} | Record<K, number> | undefined {
  try {
    const place = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as Partial<Record<string, unknown>>
    const {tasksBefore, [rest]: offset} = place
    if (isCount(tasksBefore)) return {tasksBefore}
    return isCount(offset) ? ({[rest]: offset} as Record<K, number>) : undefined
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
