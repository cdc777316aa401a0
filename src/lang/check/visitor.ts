/** The nodes of a tree: `Ir`, `IrStmt`, `IrPattern`, `Predicate`, and types. */
interface Kinded {
  readonly kind: string
}

/**
 * A function for each kind of node. Every reader of the checked tree is such a table, with a context for its state.
 * Only this file dispatches on the kind of a node.
 */
export type Visitor<N extends Kinded, R, C> = {
  readonly [K in N['kind']]: (node: N & {kind: K}, context: C) => R
}

export function visit<N extends Kinded, R, C>(node: N, visitor: Visitor<N, R, C>, context: C): R {
  const handle = visitor[node.kind as N['kind']] as (node: N, context: C) => R
  return handle(node, context)
}

/** Like `visit`, for a visitor of some kinds; `otherwise` handles the others. */
export function visitSome<N extends Kinded, R, C>(
  node: N,
  visitor: Partial<Visitor<N, R, C>>,
  context: C,
  otherwise: (node: N, context: C) => R,
): R {
  const handle = visitor[node.kind as N['kind']] as typeof otherwise | undefined
  return (handle ?? otherwise)(node, context)
}
