import type {Tokens} from '../tokens.js'

/** A link of `db.Book.all().limit(3)`: a name, called or not. */
export interface Link {
  readonly name: string
  readonly called: boolean
}

/** The dotted names that end with a token; undefined if there is anything else between the dots. */
export function chainTo(tokens: Tokens, last: number): Link[] | undefined {
  const links: Link[] = []
  let at = last
  for (;;) {
    const called = tokens.text(at) === ')'
    if (called) at = (tokens.partner(at) ?? 0) - 1
    if (!tokens.is(at, 'word')) return undefined
    links.unshift({name: tokens.text(at), called})
    if (tokens.text(at - 1) !== '.') return links
    at -= 2
  }
}

/** `db.Table.operation` and its modifiers. */
export interface TableChain {
  readonly table: string
  readonly operation: Link | undefined
  readonly modifiers: readonly Link[]
}

/** A chain that starts with a table; undefined for other chains. */
export function tableChain(links: readonly Link[] | undefined): TableChain | undefined {
  if (links === undefined) return undefined
  const [root, table, operation, ...modifiers] = links
  if (root?.name !== 'db' || root.called || table === undefined || table.called) return undefined
  return {table: table.name, operation, modifiers}
}
