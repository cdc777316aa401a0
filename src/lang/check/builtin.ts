import type {Ir} from './ir.js'
import type {Type} from './types.js'

/** The parameters and result of a built-in function or method. */
export interface Signature {
  params: readonly Type[]
  /** The number of optional parameters, counted from the end. */
  optional?: number
  result: Type | ((args: readonly Ir[]) => Type)
  /** The parameters of lambdas, if they depend on the other arguments. */
  given?: (args: readonly (Ir | undefined)[]) => readonly Type[]
  /** Why the types of the receiver and of the arguments do not suit. */
  fault?: (args: readonly Ir[]) => Fault | undefined
}

/** What a function needs, and the type that was found. */
export interface Fault {
  needs: string
  found: Type | string
}

export const takes = (params: readonly Type[], result: Signature['result'], optional = 0): Signature => ({
  params,
  result,
  optional,
})
