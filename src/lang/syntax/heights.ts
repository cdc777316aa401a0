import type {Expr, Stmt} from './ast.js'
import type {Cursor} from './cursor.js'

/** How high a tree of operators and calls in a row may be. */
const maxHeight = 400

export const missing = (c: Cursor): Expr => ({kind: 'missing', depth: 0, start: c.start, end: c.start})

/** A node of some height, unless that is too much for the later stages. */
export function built<E extends Expr>(c: Cursor, node: E): E | Expr {
  if (node.depth <= maxHeight) return node
  c.deep({start: node.end, end: node.end})
  return missing(c)
}

/** The height of a node above one or two others. */
export const above = (a: Expr | undefined, b?: Expr): number => {
  const height = a === undefined ? 0 : a.depth
  return (b !== undefined && b.depth > height ? b.depth : height) + 1
}

/** The height of a node above many. */
export function aboveAll<C>(children: readonly C[], exprOf: (child: C) => Expr | undefined, least = 0): number {
  let height = least
  for (const child of children) {
    const depth = exprOf(child)?.depth ?? 0
    if (depth > height) height = depth
  }
  return height + 1
}

/** The height of a statement: that of the highest expression in it. */
export const heightOf = (stmt: Stmt): number => {
  switch (stmt.kind) {
    case 'while':
      return Math.max(stmt.condition.depth, stmt.body.depth)
    case 'loop':
      return stmt.body.depth
    case 'break':
    case 'continue':
      return 0
    default:
      return stmt.value?.depth ?? 0
  }
}
