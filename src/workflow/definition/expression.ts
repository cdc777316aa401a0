import {
  builtinsOf,
  checkExpressionIn,
  Failure,
  pureFunction,
  type TextDiagnostic,
  toJson,
  type Value,
} from '../../lang/index.js'

/** Values that an expression can use, by name. */
export type Scope = Readonly<Record<string, unknown>>

/** A compiled expression. @throws ExpressionFailure */
export type Expression = (scope: Scope) => unknown

/** An expression is invalid, or its evaluation failed. The message names the cause but not the place. */
export class ExpressionFailure extends Error {
  override readonly name = 'ExpressionFailure'
  /** The invalid expression, and what is wrong with which part of it. */
  readonly finding: (TextDiagnostic & {expression: string}) | undefined

  constructor(message: string, finding?: TextDiagnostic & {expression: string}) {
    super(message)
    this.finding = finding
  }
}

/**
 * Compiles an expression of the data language. Its names have no static types, and it may use only functions whose
 * results depend on their arguments alone: when a run is resumed, each expression is evaluated again.
 * @param names that the expression may use
 * @throws ExpressionFailure
 */
export function compileExpression(text: string, names: readonly string[]): Expression {
  const head = `fn evaluate(${names.map((name) => `${name}: _`).join(', ')}) to _ { return `
  const {diagnostics, program} = checkExpressionIn(head, text, ' }\n')
  const fault = diagnostics.find(({severity}) => severity === 'error')
  if (fault !== undefined) throw new ExpressionFailure(fault.message, {...fault, expression: text})
  const [target] = program?.functions ?? []
  if (target === undefined) throw new ExpressionFailure('it is not one expression')
  const impure = target.effects[0]?.what ?? [...builtinsOf(target.body)].find((name) => impureBuiltins.test(name))
  if (impure !== undefined)
    throw new ExpressionFailure(`${impure} is not allowed, because a resumed run evaluates the expression again`)
  const evaluate = pureFunction(target)
  return (scope) => {
    try {
      return plain(evaluate(...names.map((name) => scope[name] ?? null)))
    } catch (error) {
      if (error instanceof Failure || error instanceof TypeError) throw new ExpressionFailure(error.message)
      throw error
    }
  }
}

const impureBuiltins = /^(std\.(time|env|log)\.|std\.crypto\.uuid$|log\.|Speech\.|print$)/

/** Converts a result to JSON. Unlike `toJson`, it keeps members that are null. */
function plain(value: Value): unknown {
  if (value === undefined || value === null || typeof value === 'symbol') return null
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return toJson(value)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
}
