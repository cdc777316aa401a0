import {near} from '../diagnostics/index.js'
import type {CallExpr, Expr, MemberExpr, Name} from '../syntax/index.js'
import {checkArgs, countRange} from './arguments.js'
import type {Signature} from './builtin.js'
import {familyOf, methods, namespaced} from './builtins.js'
import {type Checker, handled, nothing, plain} from './checker.js'
import {foreignMethod} from './foreign-methods.js'
import {adviceOnMethod} from './foreign-names.js'
import {addCall, builtinFunction} from './identifiers.js'
import type {Effect, FunctionType, Ir, ParamType} from './ir.js'
import {checkMember, namespacedName, reportUnknownNamespaced} from './members.js'
import {conversions, convertedLiteral, timeTypes} from './time-builtins.js'
import {int, isNumber, isUnknown, show, str, type Type, unknown} from './types.js'
import {reportUnknown, reportUnknownName} from './unknown-name.js'
import {checkConstruction} from './variants.js'

/** Checks any call except a database operation. */
export function checkCall(c: Checker, expr: CallExpr, expected?: Type): Ir {
  const {callee, args} = expr
  if (callee.kind === 'member') return checkMethodCall(c, expr, callee)
  if (callee.kind === 'name' && c.scope.find(callee.name.text) === undefined) {
    const {name} = callee
    const target = c.declarations.functions.get(name.text)
    if (target !== undefined) return checkFunctionCall(c, expr, target, name)
    const constructed = checkConstruction(c, name, expr, expected)
    if (constructed !== undefined) return constructed
    const builtin = builtinFunction(c, name.text)
    if (builtin !== undefined) return checkBuiltinCall(c, name.text, builtin, expr)
  }
  const called = c.value(callee)
  if (called.type.kind === 'function') return checkApply(c, called, called.type, expr)
  if (!isUnknown(called.type))
    c.report('typecheck.not_callable', callee, `Cannot call a value of type ${show(called.type)}.`)
  return {kind: 'apply', callee: called, args: args.map(({value}) => c.value(value)), type: unknown}
}

function checkFunctionCall(c: Checker, expr: CallExpr, target: FunctionType, name: Name): Ir {
  addCall(c, target, name)
  const {params} = target
  const args: (Ir | undefined)[] = params.map(() => undefined)
  let position = 0
  for (const arg of expr.args) {
    const at = arg.name === undefined ? position++ : params.findIndex((param) => param.name === arg.name?.text)
    const param = params[at]
    if (param === undefined) {
      if (arg.name !== undefined) reportUnknownParameter(c, target, arg.name)
      c.value(arg.value)
      continue
    }
    if (args[at] !== undefined)
      c.report('typecheck.arg_name', arg.name ?? arg.value, `Parameter '${param.name}' is passed twice.`)
    args[at] = c.check(arg.value, param.type, 'exact', 'typecheck.arg_mismatch')
  }
  const isLacking = params.some((param, i) => args[i] === undefined && isRequired(param))
  if (isLacking || position > params.length) {
    const takes = countRange(params.filter(isRequired).length, params.length)
    c.report('typecheck.arg_count', expr, `Expected ${takes} argument(s), found ${expr.args.length}.`, {
      related: [{...target.span, message: `'${target.name}' is declared`}],
    })
  }
  // An absent argument without a default is None.
  const complete = args.map((arg, i) => arg ?? absent(params[i] as ParamType))
  return {kind: 'call', target, args: complete, type: target.result}
}

const isRequired = ({optional, type}: ParamType) => !optional && type.kind !== 'option'

const absent = ({optional, type}: ParamType): Ir | undefined =>
  optional ? undefined : {kind: 'const', value: null, type}

function reportUnknownParameter(c: Checker, {name: called, params}: FunctionType, name: Name): void {
  const known = params.map((param) => param.name)
  reportUnknownName(c, 'typecheck.arg_name', name, `'${called}' has no parameter '${name.text}'.`, known)
}

function checkApply(c: Checker, callee: Ir, {params, result}: Type & {kind: 'function'}, expr: CallExpr): Ir {
  if (expr.args.length !== params.length)
    c.report('typecheck.arg_count', expr, `Expected ${params.length} argument(s), found ${expr.args.length}.`)
  const args = expr.args.map(({value}, i) => c.check(value, params[i] ?? unknown, 'exact', 'typecheck.arg_mismatch'))
  return {kind: 'apply', callee, args, type: result}
}

function checkBuiltinCall(c: Checker, name: string, builtin: Signature, expr: CallExpr): Ir {
  const checked = checkArgs(c, expr.args, builtin, expr, name)
  const [first] = checked.args
  const literal = timeTypes.has(name) ? checkedLiteral(c, name, first, expr) : undefined
  if (literal !== undefined) return literal
  if (name === 'len' && first !== undefined && !hasLength(first.type))
    reportArgument(c, expr.args[0]?.value, first.type, 'a list, a map or a str')
  if ((name === 'int' || name === 'float' || name === 'dec') && first !== undefined && !isConvertible(first.type))
    reportArgument(c, expr.args[0]?.value, first.type, 'a number or a str')
  if (name === 'int' && first?.type.kind === 'dec')
    return {kind: 'builtin', name, args: [truncated(first)], type: checked.type}
  const span = name === 'assert' ? {span: {start: expr.start, end: expr.end}} : {}
  return {kind: 'builtin', name, ...span, ...checked}
}

/** A date, time or duration that is written as a literal; reports one of another form. */
function checkedLiteral(c: Checker, name: string, ir: Ir | undefined, expr: CallExpr): Ir | undefined {
  if (ir?.kind !== 'const' || typeof ir.value !== 'string' || ir.type.kind !== 'str') return undefined
  const found = convertedLiteral(name, ir.value)
  const example = conversions[name]?.example
  if (found === undefined)
    c.report('typecheck.arg_mismatch', expr.args[0]?.value ?? expr, `${JSON.stringify(ir.value)} is not a ${name}.`, {
      hints: [`For example: ${name}("${example}")`],
    })
  return found
}

const truncated = (object: Ir): Ir => {
  const args: Ir[] = [
    {kind: 'const', value: 0, type: int},
    {kind: 'const', value: 'down', type: str},
  ]
  return {kind: 'method', family: 'dec', name: 'round', object, args, type: object.type}
}

const hasLength = (type: Type) => ['list', 'set', 'map', 'str', 'unknown', 'never', 'json', 'tuple'].includes(type.kind)
const isConvertible = (type: Type) =>
  isNumber(type) || ['str', 'dec', 'bool', 'unknown', 'never', 'json'].includes(type.kind)

function reportArgument(c: Checker, expr: Expr | undefined, found: Type, expected: string): void {
  if (expr === undefined) return
  const foundType = show(found)
  c.report('typecheck.arg_mismatch', expr, `Expected ${expected}, found ${foundType}.`, {foundType})
}

function checkMethodCall(c: Checker, expr: CallExpr, callee: MemberExpr): Ir {
  const namespacedCall = namespacedName(c, callee)
  if (namespacedCall !== undefined) return checkNamespacedCall(c, expr, callee, namespacedCall)
  const {member} = callee
  const name = member.text
  const object = receiver(c.infer(callee.object), name)
  const family = familyOf(object.type)
  if (family === undefined) {
    if (object.type.kind === 'object' && !object.type.fields.has(name) && Object.hasOwn(methods.map, name)) {
      c.report(
        'typecheck.unknown_method',
        member,
        `An object literal without a declared type has no method '${name}'.`,
        {
          hints: ['Declare the type of the map: let sizes: Map[str, int] = { a: 1 }'],
        },
      )
      return nothing
    }
    if (object.type.kind === 'object' || object.type.kind === 'record') {
      const field = checkMember(c, callee)
      return field.type.kind === 'function' ? checkApply(c, field, field.type, expr) : nothing
    }
    if (!isUnknown(object.type))
      c.report('typecheck.unknown_method', member, `${show(object.type)} has no method '${name}'.`)
    const args = expr.args.map(({value}) => c.value(value))
    return {kind: 'method', family, name, object, args, type: unknown}
  }
  const known = methods[family]
  const found = Object.hasOwn(known, name) ? known[name] : undefined
  if (found === undefined) {
    const names = Object.keys(known)
    const message = `${show(object.type)} has no method '${name}'.`
    const advice = adviceOnMethod(family, name)
    const suggestion = advice === undefined ? (foreignMethod(name, names) ?? near(name, names)) : undefined
    const hints = [advice ?? `Methods: ${names.join(', ')}`]
    reportUnknown(c, 'typecheck.unknown_method', member, message, suggestion, {hints})
    for (const {value} of expr.args) if (value.kind !== 'lambda') c.value(value)
    return nothing
  }
  const taken = found(object.type)
  c.symbols?.use(member, undefined, () => `${show(object.type)}.${name}`)
  return {kind: 'method', family, name, object, ...checkArgs(c, expr.args, taken, member, name)}
}

/** Methods that apply to the outcome of a database operation; others apply to its value. */
const ofOutcome: ReadonlySet<string> = new Set(['is_ok', 'is_err', 'map_err', 'ok'])

function receiver(raw: Ir, name: string): Ir {
  if (raw.type.kind !== 'outcome') return raw
  const asks = ofOutcome.has(name) || (name === 'unwrap' && raw.type.of.kind !== 'option')
  return asks ? handled(raw) : plain(raw)
}

function effectOf(name: string): Effect['kind'] | undefined {
  if (name === 'Speech.transcribe') return 'speech'
  if (name === 'std.crypto.hash_password' || name === 'std.crypto.verify_password') return 'hash'
  return name.startsWith('std.random.') ? 'random' : undefined
}

function checkNamespacedCall(c: Checker, expr: CallExpr, callee: MemberExpr, name: string): Ir {
  const {member} = callee
  const found = Object.hasOwn(namespaced, name) ? namespaced[name] : undefined
  if (found === undefined) {
    reportUnknownNamespaced(c, member, name)
    for (const {value} of expr.args) c.value(value)
    return nothing
  }
  c.symbols?.use(member, undefined, () => name)
  const effect = effectOf(name)
  if (effect !== undefined) c.function.effects.push({kind: effect, what: `${name}()`, table: undefined, span: callee})
  const checked = checkArgs(c, expr.args, found, member, name)
  const extreme = name === 'std.math.min' ? 'min' : name === 'std.math.max' ? 'max' : undefined
  if (extreme !== undefined && !isNumber(checked.type) && checked.args.length === 2) return extremeOf(extreme, checked)
  return {kind: 'builtin', name, ...checked}
}

/** The least or greatest of two values, in the order of their type. */
function extremeOf(name: 'min' | 'max', {args, type}: {args: readonly Ir[]; type: Type}): Ir {
  const items: Ir = {kind: 'list', items: args, type: {kind: 'list', of: type}}
  const found: Ir = {kind: 'method', family: 'list', name, object: items, args: [], type: {kind: 'option', of: type}}
  return {kind: 'method', family: 'option', name: 'unwrap', object: found, args: [], type}
}
