import type {Span} from '../diagnostics/index.js'
import type {Arg, CallExpr, Name} from '../syntax/index.js'
import type {Checker} from './checker.js'
import type {Ir} from './ir.js'
import {option, result, type SumType, type Type, unit, unknown, type VariantType} from './types.js'

interface FoundVariant {
  sum: SumType
  variant: VariantType
}

/** The variant with a name; if several sum types have one, that of the expected sum type. */
export function variantOf(c: Checker, name: Name, expected: Type | undefined): FoundVariant | undefined {
  const all = c.declarations.variants.get(name.text)
  if (all === undefined) return undefined
  const present = expected?.kind === 'option' ? expected.of : expected
  const found = all.find(({sum}) => present?.kind === 'sum' && present.sum === sum) ?? all[0]
  if (found !== undefined) c.symbols?.use(name, found.variant.span, () => `${found.sum.name}.${name.text}`)
  return found
}

/** `Some`, `Ok`, `Error` and variants with fields; undefined for any other call. */
export function checkConstruction(c: Checker, name: Name, expr: CallExpr, expected: Type | undefined): Ir | undefined {
  const {text} = name
  if (text === 'Some' || text === 'Ok' || text === 'Error' || text === 'Err') return wrap(c, text, expr, expected)
  const found = variantOf(c, name, expected)
  return found === undefined ? undefined : checkVariant(c, expr, found, expr.args)
}

type Wrapper = 'Some' | 'Ok' | 'Error' | 'Err'

/** The expected type of the value in a wrapper. */
function wrappedType(name: Wrapper, expected: Type | undefined): Type | undefined {
  if (name === 'Some') return expected?.kind === 'option' ? expected.of : undefined
  if (expected?.kind !== 'result') return undefined
  return name === 'Ok' ? expected.ok : expected.error
}

function wrap(c: Checker, name: Wrapper, expr: CallExpr, expected: Type | undefined): Ir {
  const {args} = expr
  const [only] = args
  if (args.length !== 1 && !(name === 'Ok' && args.length === 0))
    c.report('typecheck.arg_count', expr, `${name}() takes 1 argument(s), found ${args.length}.`)
  const inner = wrappedType(name, expected)
  let value: Ir = {kind: 'const', value: undefined, type: unit}
  if (only !== undefined) value = inner === undefined ? c.value(only.value) : c.check(only.value, inner, 'slot')
  const type = inner ?? value.type
  if (name === 'Some') return {kind: 'some', value, type: option(type)}
  if (name === 'Ok') return {kind: 'ok', value, type: result(type, unknown)}
  return {kind: 'error', value, type: result(unknown, type)}
}

export function checkVariant(c: Checker, span: Span, {sum, variant}: FoundVariant, args: readonly Arg[]): Ir {
  const {fields, name} = variant
  const checked: [string, Ir][] = []
  for (const [i, arg] of args.entries()) {
    const field = arg.name === undefined ? fields[i] : fields.find((each) => each.name === arg.name?.text)
    if (field === undefined) {
      if (arg.name !== undefined) c.report('typecheck.arg_name', arg.name, `${name} has no field '${arg.name.text}'.`)
      c.value(arg.value)
    } else checked.push([field.name, c.check(arg.value, field.type, 'slot', 'typecheck.arg_mismatch')])
  }
  const isLacking = fields.some(
    (field) => field.type.kind !== 'option' && !checked.some(([fieldName]) => fieldName === field.name),
  )
  if (isLacking || args.length > fields.length)
    c.report('typecheck.arg_count', span, `${name} takes ${fields.length} argument(s), found ${args.length}.`, {
      related: [{...variant.span, message: `${name} is declared`}],
    })
  return {kind: 'variant', variant, sum, args: checked, type: {kind: 'sum', sum}}
}
