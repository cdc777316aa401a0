import {ExpressionFailure} from '../definition/expression.js'
import {ActivityFailure} from './control-errors.js'

/** Evaluates an expression of a step. @throws ActivityFailure */
export function evaluated<T>(name: string, evaluate: () => T): T {
  try {
    return evaluate()
  } catch (error) {
    if (error instanceof ExpressionFailure)
      throw new ActivityFailure(`${name} failed: ${error.message}.`, {cause: error})
    throw error
  }
}
