/** The nodes of a tree: `Ir`, `IrStmt`, `IrPattern`, `Predicate`, and types. */
interface Kinded {
  readonly kind: string
}

/**
 * A function for each kind of node. What reads the checked tree is such a table, with whatever else it needs as the
 * context; the kind of a node is looked at in this file alone.
 */
export type Visitor<N extends Kinded, R, C> = {
  readonly [K in N['kind']]: (node: N & {kind: K}, context: C) => R
}

export function visit<N extends Kinded, R, C>(node: N, visitor: Visitor<N, R, C>, context: C): R {
  const handle = visitor[node.kind as N['kind']] as (node: N, context: C) => R
  return handle(node, context)
}

/** As `visit`, for a visitor of some kinds; `otherwise` takes the others. */
export function visitSome<N extends Kinded, R, C>(
  node: N,
  visitor: Partial<Visitor<N, R, C>>,
  context: C,
  otherwise: (node: N, context: C) => R,
): R {
  const handle = visitor[node.kind as N['kind']] as typeof otherwise | undefined
  return (handle ?? otherwise)(node, context)
}
