import {readerOf} from './member.js'
import {digits} from './types.js'

const query = readerOf({limit: digits, cursor: digits})

/** Page of rows ordered by number, newest first. */
export interface PageQuery {
  limit: number
  /** Only rows with smaller numbers. */
  before?: number | undefined
}

/** @param maxRows default and maximum number of rows per page @throws missing_field */
export function readPageQuery(parameters: object, maxRows: number): PageQuery {
  const {limit = maxRows, cursor} = query(parameters)
  return {limit: Math.min(Math.max(limit, 1), maxRows), before: cursor}
}
