import type {Expr, Stmt} from './ast.js'
import type {Cursor} from './cursor.js'

/** Maximum height of a tree of operators and chained calls. */
const maxHeight = 400

export const missing = (c: Cursor): Expr => ({kind: 'missing', depth: 0, start: c.start, end: c.start})

/** Returns a node, or reports it if its height exceeds the limit of the later stages. */
export function built<E extends Expr>(c: Cursor, node: E): E | Expr {
  if (node.depth <= maxHeight) return node
  c.deep({start: node.end, end: node.end})
  return missing(c)
}

/** The height of a node with one or two children. */
export const above = (a: Expr | undefined, b?: Expr): number => {
  const height = a === undefined ? 0 : a.depth
  return (b !== undefined && b.depth > height ? b.depth : height) + 1
}

/** The height of a node with any number of children. */
export function aboveAll<C>(children: readonly C[], exprOf: (child: C) => Expr | undefined, min = 0): number {
  let height = min
  for (const child of children) {
    const depth = exprOf(child)?.depth ?? 0
    if (depth > height) height = depth
  }
  return height + 1
}

/** The height of a statement: that of its highest expression. */
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
