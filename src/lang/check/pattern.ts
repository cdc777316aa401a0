import type {Arm, Pattern} from '../syntax/index.js'
import type {Checker} from './checker.js'
import type {IrPattern} from './ir.js'
import {describeBinding} from './scope.js'
import {bool, fits, float, int, isUnknown, option, result, show, str, type Type, unknown} from './types.js'
import {reportUnknownName} from './unknown-name.js'
import {type Visitor, visitSome} from './visitor.js'

/** Whether a pattern matches every value. */
export const isIrrefutable = (pattern: Pattern): boolean =>
  pattern.kind === 'any' || pattern.kind === 'bind' || (pattern.kind === 'tuple' && pattern.items.every(isIrrefutable))

/** Whether a pattern matches on the outcome of a database operation. */
export const namesResult = (pattern: Pattern): boolean =>
  pattern.kind === 'variant' && ['Ok', 'Error', 'Err'].includes(pattern.name.text)

/** Checks a pattern against the type of the matched value, and binds its names. */
export function checkPattern(c: Checker, pattern: Pattern, type: Type, mutable = false): IrPattern {
  switch (pattern.kind) {
    case 'any':
      return {kind: 'any'}
    case 'bind': {
      const binding = c.scope.bind(pattern.name.text, type, pattern.name, mutable)
      c.symbols?.define(pattern.name, () => describeBinding(binding))
      return {kind: 'bind', binding}
    }
    case 'literal': {
      const literal = {int, float, str, bool}[pattern.literal]
      if (!fits(literal, type)) misfit(c, pattern, `A pattern of type ${show(literal)} cannot match ${show(type)}.`)
      return {kind: 'literal', value: pattern.value}
    }
    case 'tuple':
      return tuple(c, pattern, type, mutable)
    case 'variant':
      return variant(c, pattern, type)
  }
}

const misfit = (c: Checker, pattern: Pattern, message: string) => c.report('typecheck.pattern', pattern, message)

function tuple(c: Checker, pattern: Pattern & {kind: 'tuple'}, type: Type, mutable: boolean): IrPattern {
  const items = type.kind === 'tuple' ? type.items : []
  if (type.kind === 'tuple' ? items.length !== pattern.items.length : !isUnknown(type))
    misfit(c, pattern, `A tuple of ${pattern.items.length} elements cannot match ${show(type)}.`)
  return {kind: 'tuple', items: pattern.items.map((item, i) => checkPattern(c, item, items[i] ?? unknown, mutable))}
}

function variant(c: Checker, pattern: Pattern & {kind: 'variant'}, type: Type): IrPattern {
  const {name, args = []} = pattern
  switch (name.text) {
    case 'None':
      if (!fits(option(unknown), type)) misfit(c, pattern, `None cannot match ${show(type)}.`)
      arity(c, pattern, 0)
      return {kind: 'none'}
    case 'Some':
      if (type.kind !== 'option' && !isUnknown(type)) misfit(c, pattern, `Some cannot match ${show(type)}.`)
      return {kind: 'some', of: only(c, pattern, type.kind === 'option' ? type.of : unknown)}
    case 'Ok':
    case 'Error':
    case 'Err': {
      const isOk = name.text === 'Ok'
      if (!fits(result(unknown, unknown), type)) misfit(c, pattern, `${name.text} cannot match ${show(type)}.`)
      const inner = type.kind === 'result' ? (isOk ? type.ok : isUnknown(type.error) ? str : type.error) : unknown
      return {kind: isOk ? 'ok' : 'error', of: only(c, pattern, inner)}
    }
  }
  const known =
    type.kind === 'sum'
      ? type.sum.variants
      : (c.declarations.variants.get(name.text) ?? []).map((found) => found.variant)
  const found = known.find((one) => one.name === name.text)
  if (found === undefined || (type.kind !== 'sum' && !isUnknown(type))) {
    const names = known.map((one) => one.name)
    reportUnknownName(c, 'typecheck.pattern', name, `${show(type)} has no variant '${name.text}'.`, names)
    for (const arg of args) checkPattern(c, arg, unknown)
    return {kind: 'any'}
  }
  c.symbols?.use(name, found.span, () => name.text)
  if (pattern.args !== undefined) arity(c, pattern, found.fields.length)
  const fields = args.flatMap((arg, i): (readonly [string, IrPattern])[] => {
    const field = found.fields[i]
    const checked = checkPattern(c, arg, field?.type ?? unknown)
    return field === undefined ? [] : [[field.name, checked]]
  })
  return {kind: 'variant', tag: found.name, fields}
}

function arity(c: Checker, pattern: Pattern & {kind: 'variant'}, takes: number): void {
  const found = pattern.args?.length ?? 0
  if (found !== takes) misfit(c, pattern, `${pattern.name.text} has ${takes} field(s), found ${found}.`)
}

function only(c: Checker, pattern: Pattern & {kind: 'variant'}, type: Type): IrPattern {
  const [first] = pattern.args ?? []
  // `Ok` without arguments matches the case and ignores the value.
  if (pattern.args !== undefined) arity(c, pattern, 1)
  return first === undefined ? {kind: 'any'} : checkPattern(c, first, type)
}

/** The cases of a type that no arm covers, as patterns. An arm with a guard does not count. */
export function coverage(type: Type, arms: readonly Arm[]): string[] {
  const sure = arms.filter(({guard}) => guard === undefined).map(({pattern}) => pattern)
  if (sure.some(isIrrefutable) || isUnknown(type)) return []
  const covered = new Set(sure.flatMap(coveredCase))
  const cases = visitSome(type, casesOf, undefined, () => undefined)
  if (cases === undefined) return ['_']
  return cases.flatMap(({name, fields}) =>
    covered.has(name) ? [] : `${name}${fields === 0 ? '' : `(${Array(fields).fill('_').join(', ')})`}`,
  )
}

/** A case of a type and its number of fields. */
interface Case {
  name: string
  fields: number
}

const casesOf: Partial<Visitor<Type, Case[] | undefined, undefined>> = {
  option: () => [
    {name: 'Some', fields: 1},
    {name: 'None', fields: 0},
  ],
  result: () => ['Ok', 'Error'].map((name) => ({name, fields: 1})),
  bool: () => ['true', 'false'].map((name) => ({name, fields: 0})),
  sum: ({sum}) => sum.variants.map(({name, fields}) => ({name, fields: fields.length})),
}

/** The case that a pattern covers completely. */
function coveredCase(pattern: Pattern): string[] {
  if (pattern.kind === 'literal') return [String(pattern.value)]
  if (pattern.kind !== 'variant' || !(pattern.args ?? []).every(isIrrefutable)) return []
  return [pattern.name.text === 'Err' ? 'Error' : pattern.name.text]
}
