import type {Span} from '../diagnostics/index.js'
import type {Block, Expr, Stmt} from '../syntax/index.js'
import {type Checker, plain} from './checker.js'
import {reportUndefined} from './identifiers.js'
import type {Binding, Ir, IrStmt} from './ir.js'
import {checkArithmetic} from './operators.js'
import {checkPattern, isIrrefutable} from './pattern.js'
import {describeBinding} from './scope.js'
import {
  bool,
  fits,
  ignored,
  int,
  isUnknown,
  join,
  list,
  map,
  never,
  show,
  str,
  type Type,
  unit,
  unknown,
} from './types.js'

/** Checks a block; its last expression is its value. `tail`: the end of the block ends the function. */
export function checkBlock(c: Checker, block: Block, expected: Type | undefined, tail = false): Ir {
  const mark = c.scope.mark
  const last = block.statements.at(-1)
  let type: Type = unit
  const statements = block.statements.map((stmt): IrStmt => {
    if (stmt === last && stmt.kind === 'expr') {
      const value = checkLast(c, stmt.value, expected, tail)
      type = type.kind === 'never' ? never : value.type
      return {kind: 'expr', value}
    }
    const checked = checkStatement(c, stmt)
    if (checked.ends) type = never
    return checked.stmt
  })
  c.scope.leave(mark)
  if (type === unit && tail) c.frame.fallsThrough = true
  const isValue = last?.kind === 'expr'
  if (type === unit && !isValue && !tail && expected !== undefined && !fits(unit, expected))
    c.mismatch(block, unit, expected)
  return {
    kind: 'block',
    statements,
    type: type === unit && (tail || !isValue) && expected !== undefined ? unknownUnless(expected) : type,
  }
}

const unknownUnless = (expected: Type): Type =>
  expected.kind === 'unit' || expected.kind === 'ignored' ? unit : unknown

/** Checks the last expression of a block or an arm. */
export function checkLast(c: Checker, expr: Expr, expected: Type | undefined, tail: boolean): Ir {
  if (tail) {
    const {kind} = expr
    if (kind === 'block' || kind === 'if' || kind === 'match') return c.infer(expr, expected, 'exact', true)
    if (kind === 'for') {
      c.frame.fallsThrough = true
      return c.value(expr)
    }
  }
  return expected === undefined ? c.infer(expr) : c.check(expr, expected)
}

/** Checks a statement. `ends`: control does not continue after it. */
export function checkStatement(c: Checker, stmt: Stmt): {stmt: IrStmt; ends: boolean} {
  switch (stmt.kind) {
    case 'let':
      return {stmt: checkLet(c, stmt), ends: false}
    case 'return':
      return {stmt: checkReturn(c, stmt), ends: true}
    case 'assign':
      return {stmt: checkAssign(c, stmt), ends: false}
    case 'while': {
      const condition = c.check(stmt.condition, bool)
      const {body, broken} = checkLoop(c, stmt.body)
      const isEndless = stmt.condition.kind === 'bool' && stmt.condition.value
      return {stmt: {kind: 'while', condition, body}, ends: isEndless && !broken}
    }
    case 'loop': {
      const {body, broken} = checkLoop(c, stmt.body)
      return {stmt: {kind: 'loop', body}, ends: !broken}
    }
    case 'break':
    case 'continue':
      leaveLoop(c, stmt.kind, stmt)
      return {stmt: {kind: stmt.kind}, ends: true}
    case 'expr': {
      const value = c.check(stmt.value, ignored)
      return {stmt: {kind: 'expr', value}, ends: value.type.kind === 'never'}
    }
  }
}

function leaveLoop(c: Checker, kind: 'break' | 'continue', span: Span): void {
  const loop = c.frame.loops.at(-1)
  if (loop === undefined) c.report('parse.unexpected_token', span, `'${kind}' is outside a loop.`)
  else if (kind === 'break') loop.broken = true
}

export function checkLoop(c: Checker, block: Block): {body: Ir; broken: boolean} {
  const loop = {broken: false}
  c.frame.loops.push(loop)
  const body = checkBlock(c, block, ignored)
  c.frame.loops.pop()
  return {body, broken: loop.broken}
}

function checkLet(c: Checker, {pattern, type: node, value: expr, mutable}: Stmt & {kind: 'let'}): IrStmt {
  const declared = node === undefined ? undefined : c.declarations.typeOf(node)
  // Without a declared type, the outcome of a database operation is preserved and resolved at each use.
  const value = declared === undefined ? c.infer(expr) : c.check(expr, declared, 'slot')
  const settled = pattern.kind === 'bind' ? value : plain(value)
  if (!isIrrefutable(pattern))
    c.report('typecheck.pattern', pattern, 'let needs a pattern that always matches; use match for other patterns.')
  return {kind: 'let', pattern: checkPattern(c, pattern, declared ?? settled.type, mutable), value: settled}
}

function checkReturn(c: Checker, stmt: Stmt & {kind: 'return'}): IrStmt {
  const {result: expected, open, returned} = c.frame
  if (stmt.value === undefined) {
    if (!open && !fits(unit, expected)) {
      const expectedType = show(expected)
      c.report('typecheck.mismatch', stmt, `Expected ${expectedType}, found Unit.`, {expectedType, foundType: 'Unit'})
    }
    return {kind: 'return', value: undefined}
  }
  if (!open) return {kind: 'return', value: c.check(stmt.value, expected)}
  const value = c.value(stmt.value)
  returned.push(value.type)
  return {kind: 'return', value}
}

function checkAssign(c: Checker, stmt: Stmt & {kind: 'assign'}): IrStmt {
  const {target, operator, value: expr} = stmt
  const element = target.kind === 'index' ? assignedElement(c, target) : undefined
  if (element !== undefined) return checkAssignElement(c, stmt, element)
  const binding = target.kind === 'name' ? c.scope.find(target.name.text) : undefined
  if (target.kind !== 'name' || binding === undefined) {
    if (target.kind === 'name' && !c.declarations.functions.has(target.name.text)) reportUndefined(c, target.name)
    else if (target.kind !== 'missing')
      c.report('typecheck.assign_target', target, 'Only a variable can be assigned to; values are immutable.', {
        hints: [assignHint(c, target)],
      })
    if (target.kind !== 'name')
      for (const part of target.kind === 'index' ? [target.object, target.index] : [target]) c.value(part)
    return {kind: 'expr', value: c.value(expr)}
  }
  c.symbols?.use(target.name, binding.span, () => describeBinding(binding))
  requireMutable(c, binding, target)
  if (operator === '=') return {kind: 'assign', binding, value: assignedValue(c, expr, binding)}
  const value = checkArithmetic(c, operator, {expr: target, ir: c.value(target)}, expr)
  const {type} = binding
  const plainType = type.kind === 'outcome' ? type.of : type
  if (!fits(value.type, plainType)) c.mismatch(expr, value.type, plainType)
  widen(binding, value.type)
  return {kind: 'assign', binding, value: type.kind === 'outcome' ? {kind: 'ok', value, type} : value}
}

function requireMutable(c: Checker, binding: Binding, target: Span): void {
  if (!binding.mutable)
    c.report('typecheck.immutable', target, `'${binding.name}' is not mutable; declare it with 'let mut'.`, {
      related: [{...binding.span, message: `'${binding.name}' is declared`}],
    })
}

function assignHint(c: Checker, target: Expr): string {
  const indexed = target.kind === 'index' && target.object.kind === 'name' ? target.object.name.text : ''
  if (c.scope.find(indexed)?.type.kind === 'object')
    return `Declare the type of the map: let mut ${indexed}: Map[str, int] = {}`
  if (target.kind !== 'member') return 'Create a new value instead, for example with list.append(item).'
  const of = target.object.kind === 'name' ? target.object.name.text : 'value'
  return `Create a new value instead: ${of} = { ...${of}, ${target.member.text}: ... }`
}

type IndexExpr = Expr & {kind: 'index'}

/** A variable whose value has elements that can be assigned. */
interface Element {
  binding: Binding
  kind: 'list' | 'map'
  of: Type
}

function assignedElement(c: Checker, {object}: IndexExpr): Element | undefined {
  if (object.kind !== 'name') return undefined
  const binding = c.scope.find(object.name.text)
  const type = binding?.type.kind === 'outcome' ? binding.type.of : binding?.type
  if (binding === undefined || (type?.kind !== 'list' && type?.kind !== 'map')) return undefined
  c.symbols?.use(object.name, binding.span, () => describeBinding(binding))
  return {binding, kind: type.kind, of: type.of}
}

/** `items[index] = value`, and `items[index] += value`, of which the index is evaluated once. */
function checkAssignElement(
  c: Checker,
  {target, operator, value: expr}: Stmt & {kind: 'assign'},
  {binding, kind, of}: Element,
): IrStmt {
  const {index: written, object} = target as IndexExpr
  requireMutable(c, binding, object)
  binding.assignsElements = true
  const index = c.check(written, kind === 'list' ? int : str)
  const assign = (at: Ir, value: Ir): IrStmt => ({kind: 'assign_element', binding, of: kind, index: at, value})
  if (operator === '=') {
    const value = c.check(expr, of, 'slot')
    widen(binding, kind === 'list' ? list(value.type) : map(value.type))
    return assign(index, value)
  }
  const place = c.scope.bind('', index.type, written)
  const at: Ir = {kind: 'local', binding: place, type: index.type}
  const before: Ir = {
    kind: 'index',
    object: plain({kind: 'local', binding, type: binding.type}),
    index: at,
    of: kind,
    type: of,
  }
  const value = checkArithmetic(c, operator, {expr: object, ir: before}, expr)
  if (!fits(value.type, of)) c.mismatch(expr, value.type, of)
  const statements: IrStmt[] = [{kind: 'let', pattern: {kind: 'bind', binding: place}, value: index}, assign(at, value)]
  return {kind: 'expr', value: {kind: 'block', statements, type: unit}}
}

function assignedValue(c: Checker, expr: Expr, binding: Binding): Ir {
  const {type} = binding
  if (type.kind === 'outcome') {
    const value = c.infer(expr)
    if (value.type.kind === 'outcome') return value
    if (!fits(value.type, type.of)) c.mismatch(expr, value.type, type.of)
    return {kind: 'ok', value, type}
  }
  const value = c.check(expr, type, 'slot')
  widen(binding, value.type)
  return value
}

/** A list declared empty gets its element type from the assigned value. */
function widen(binding: Binding, assigned: Type): void {
  const {type} = binding
  const isOpen = (type.kind === 'list' || type.kind === 'map') && isUnknown(type.of)
  const wider = isOpen ? join(type, assigned) : undefined
  if (wider !== undefined) binding.type = wider
}
