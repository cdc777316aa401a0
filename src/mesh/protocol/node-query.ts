import {SvcError} from '../../errors/index.js'
import {readerOf} from './member.js'
import {digits, list, oneOf, word} from './types.js'

/** Default and maximum number of nodes per page. */
export const maxNodesPerPage = 5000

const labels = list(64, word(256))

const query = readerOf({
  limit: digits,
  cursor: word(2048),
  fields: oneOf('brief', 'full'),
  labels: {
    expected: 'a list of up to 64 labels, separated by commas',
    read: (value: unknown) =>
      labels.read(
        [value].flat().flatMap((part) => String(part).split(',')),
        'labels',
      ),
  },
  updated_since_unix_ms: digits,
})

export interface NodeListQuery {
  limit: number
  after: string | undefined
  isBrief: boolean
  labels: readonly string[] | undefined
  updatedSinceMs: number | undefined
}

/** Reads the query parameters of the node list. @throws missing_field */
export function readNodeQuery(parameters: object): NodeListQuery {
  const {limit = maxNodesPerPage, cursor, fields, labels, updated_since_unix_ms} = query(parameters)
  return {
    limit: Math.min(Math.max(limit, 1), maxNodesPerPage),
    after: cursor === undefined ? undefined : nodeOfCursor(cursor),
    isBrief: fields === 'brief',
    labels,
    updatedSinceMs: updated_since_unix_ms,
  }
}

/** Opaque cursor for the end of a page. */
export const cursorOf = (node: string): string => Buffer.from(node, 'utf8').toString('base64url')

function nodeOfCursor(cursor: string): string {
  const node = Buffer.from(cursor, 'base64url').toString('utf8')
  if (node === '' || cursorOf(node) !== cursor)
    throw new SvcError('missing_field', {field: 'cursor', expected: 'the next_cursor of the previous page'})
  return node
}
