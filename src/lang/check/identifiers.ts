import type {Name, NameExpr} from '../syntax/index.js'
import type {Signature} from './builtin.js'
import {functions} from './builtins.js'
import {type Checker, nothing} from './checker.js'
import {useConstant} from './constants.js'
import {adviceOnName} from './foreign-names.js'
import type {Binding, FunctionType, Ir} from './ir.js'
import {describeBinding} from './scope.js'
import {signature} from './signatures.js'
import {isDeclaredType} from './type-nodes.js'
import {option, type Type, unit, unknown} from './types.js'
import {reportUnknownName} from './unknown-name.js'
import {checkVariant, variantOf} from './variants.js'

/** The absent values of other languages. */
const absences: ReadonlySet<string> = new Set(['null', 'nil', 'undefined'])

export function checkName(c: Checker, {name}: NameExpr, expected: Type | undefined): Ir {
  const {text} = name
  const binding = c.scope.find(text)
  if (binding !== undefined) {
    c.symbols?.use(name, binding.span, () => describeBinding(binding))
    return {kind: 'local', binding, type: binding.type}
  }
  const target = c.declarations.functions.get(text)
  if (target !== undefined) {
    addCall(c, target, name)
    const params = target.params.map(({type}) => type)
    return {kind: 'function', target, type: {kind: 'function', params, result: target.result}}
  }
  const constant = c.declarations.constants.get(text)
  if (constant !== undefined) return useConstant(c, constant, name)
  const variant = checkBareVariant(c, name, expected)
  if (variant !== undefined) return variant
  if (absences.has(text)) {
    c.report('typecheck.null', name, `There is no ${text === 'undefined' ? text : 'null'}; write None.`, {
      fixes: [{label: 'Write None', start: name.start, end: name.end, replacement: 'None'}],
    })
    return nothing
  }
  if (text === 'db') {
    c.report('typecheck.table_handle', name, 'db is not a value; name a table and an operation, such as db.Task.all().')
    return nothing
  }
  const builtin = builtinFunction(c, text)
  if (builtin !== undefined) return builtinValue(c, text, builtin)
  reportUndefined(c, name)
  return nothing
}

/** A declared type has precedence over the conversion of the same name. */
export const builtinFunction = (c: Checker, name: string): Signature | undefined =>
  Object.hasOwn(functions, name) && !isDeclaredType(c.declarations, name) ? functions[name] : undefined

/** Records that the current function may call `target`. */
export function addCall(c: Checker, target: FunctionType, name: Name): void {
  c.function.calls.push({target, span: name})
  c.symbols?.use(name, target.span, () => signature(target), target.decl.doc)
}

/** `None`, `Unit` and variants without fields. */
function checkBareVariant(c: Checker, name: Name, expected: Type | undefined): Ir | undefined {
  if (name.text === 'None') return {kind: 'const', value: null, type: option(unknown)}
  if (name.text === 'Unit') return {kind: 'const', value: undefined, type: unit}
  const found = variantOf(c, name, expected)
  return found === undefined ? undefined : checkVariant(c, name, found, [])
}

function builtinValue(c: Checker, name: string, {params, result}: Signature): Ir {
  const nowhere = {start: 0, end: 0}
  const binding: Binding = {
    name: '_',
    type: unknown,
    slot: c.scope.bind('', unknown, nowhere).slot,
    mutable: false,
    lambdas: 0,
    boxed: false,
    span: nowhere,
  }
  return {
    kind: 'lambda',
    params: [binding],
    body: {kind: 'builtin', name, args: [{kind: 'local', binding, type: unknown}], type: unknown},
    type: {kind: 'function', params, result: typeof result === 'function' ? unknown : result},
  }
}

export function reportUndefined(c: Checker, name: Name): void {
  const {functions: declared, constants, variants, records} = c.declarations
  const record = records.get(name.text)
  const advice =
    record === undefined
      ? adviceOnName(name.text)
      : `Write ${name.text} { ${record.fields.map((field) => `${field.name}: ...`).join(', ')} }.`
  if (advice !== undefined) {
    c.report('typecheck.undefined', name, `Undefined name '${name.text}'.`, {hints: [advice]})
    return
  }
  const known = [
    ...c.scope.names(),
    ...declared.keys(),
    ...constants.keys(),
    ...variants.keys(),
    ...Object.keys(functions),
  ]
  reportUnknownName(c, 'typecheck.undefined', name, `Undefined name '${name.text}'.`, known)
}
