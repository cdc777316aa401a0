import {readerOf} from './member.js'
import {digits} from './types.js'

const query = readerOf({limit: digits, cursor: digits})

/** A page of rows that are listed by their numbers, the newest first. */
export interface PageQuery {
  limit: number
  /** Only rows with smaller numbers. */
  before?: number | undefined
}

/** @param most rows of a page, which is also what a page has that asks for no length @throws missing_field */
export function readPageQuery(parameters: object, most: number): PageQuery {
  const {limit = most, cursor} = query(parameters)
  return {limit: Math.min(Math.max(limit, 1), most), before: cursor}
}
