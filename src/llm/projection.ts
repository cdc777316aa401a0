/** A matrix of a layer, which may be quantised and updated by adapters. */
export interface Projection {
  /** Name of its purpose; projections of equal role and shape are counterparts in their layers. */
  role: string
  /** Name of its tensor. */
  name: string
  shape: readonly [out: number, input: number]
}
