import type {Cursor} from './cursor.js'
import type {Comment} from './token.js'

/** The `///` lines immediately before a declaration and its skipped decorators, of which `first` is the first token. */
export function documentation(c: Cursor, first: number): string | undefined {
  const {comments, source} = c.tokens
  let low = 0
  let high = comments.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((comments[middle] as Comment).beforeToken < first) low = middle + 1
    else high = middle
  }
  const lines: string[] = []
  for (let i = low; (comments[i]?.beforeToken ?? Number.POSITIVE_INFINITY) <= c.at; i++) {
    const {start, end} = comments[i] as Comment
    if (source.startsWith('///', start)) lines.push(source.slice(start + 3, end).trim())
    else lines.length = 0
  }
  return lines.length === 0 ? undefined : lines.join('\n')
}
