import type {Span} from '../diagnostics/index.js'
import type {Arg, Expr} from '../syntax/index.js'
import type {Fault, Signature} from './builtin.js'
import type {Checker} from './checker.js'
import type {Ir} from './ir.js'
import {show, type Type} from './types.js'

/** Checks positional arguments; returns them with the result type of the call. */
export function checkArgs(
  c: Checker,
  written: readonly Arg[],
  signature: Signature,
  span: Span,
  name: string,
): {args: Ir[]; type: Type} {
  const {params, optional = 0, result, given, fault} = signature
  const isComplete = hasArgCount(c, written, {name, span, max: params.length, min: params.length - optional})
  const check = (value: Expr, param: Type | undefined) =>
    param === undefined ? c.value(value) : c.check(value, param, 'exact', 'typecheck.arg_mismatch')
  // Lambdas last: their parameters may depend on the other arguments.
  const plain = written.map(({value}, i) => (value.kind === 'lambda' ? undefined : check(value, params[i])))
  const types = given?.(plain) ?? params
  const args = plain.map((ir, i) => ir ?? check((written[i] as Arg).value, types[i]))
  const found = isComplete ? fault?.(args) : undefined
  if (found !== undefined) reportFault(c, span, name, found)
  return {args, type: typeof result === 'function' ? result(args) : result}
}

function reportFault(c: Checker, span: Span, name: string, {needs, found}: Fault): void {
  const foundType = typeof found === 'string' ? found : show(found)
  c.report('typecheck.arg_mismatch', span, `${name}() needs ${needs}, found ${foundType}.`, {foundType})
}

/** What to write instead of a call with another number of arguments. */
const countAdvice: Readonly<Record<string, string | undefined>> = {
  range: 'Write range(0, n).',
  print: 'Write one value: print(f"{a} {b}").',
  count: 'Write filter({..}).count(), or items.count(f).',
  insert: 'Write one record: insert({ column: value }).',
  update: 'Write update(id, {..}), or where({..}).update({..}).',
  sort: 'Write sort_by(f), or sort().reverse().',
}

interface Called {
  name: string
  span: Span
  max: number
  min?: number
}

/** Whether the number of positional arguments is valid; reports a wrong number and named arguments. */
export function hasArgCount(c: Checker, args: readonly Arg[], {name, span, max, min = max}: Called): boolean {
  const named = args.find((arg) => arg.name !== undefined)
  if (named?.name !== undefined)
    c.report('typecheck.arg_name', named.name, `${name}() does not accept named arguments.`)
  if (args.length >= min && args.length <= max) return true
  const takes = countRange(min, max)
  const advice = args.length > max || name === 'range' || name === 'update' ? countAdvice[name] : undefined
  const hints = advice === undefined ? {} : {hints: [advice]}
  c.report('typecheck.arg_count', span, `${name}() takes ${takes} argument(s), found ${args.length}.`, hints)
  return false
}

/** `2` or `1 to 2` */
export const countRange = (min: number, max: number): string => (min === max ? `${min}` : `${min} to ${max}`)
