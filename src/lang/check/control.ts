import type {DiagnosticDetails, Span} from '../diagnostics/index.js'
import type {Expr, ForExpr, IfExpr, LambdaExpr, MatchExpr, Name, Pattern} from '../syntax/index.js'
import {type Checker, handled, nothing, plain} from './checker.js'
import type {Ir, IrPattern} from './ir.js'
import {checkPattern, coverage, isIrrefutable, namesResult} from './pattern.js'
import {joinedType} from './records.js'
import {describeBinding} from './scope.js'
import {checkLast, checkLoop, checkStatement} from './statements.js'
import {
  bool,
  fits,
  ignored,
  int,
  isUnknown,
  join,
  never,
  result,
  type Slot,
  show,
  str,
  type Type,
  unit,
  unknown,
} from './types.js'

export function checkIf(
  c: Checker,
  {condition: head, consequent: first, otherwise: second}: IfExpr,
  expected: Type | undefined,
  slot: Slot,
  tail: boolean,
): Ir {
  const condition = c.check(head, bool)
  if (second === undefined) {
    const consequent = c.infer(first, ignored)
    if (tail) c.frame.fallsThrough = true
    else if (expected !== undefined && !fits(unit, expected)) c.mismatch(first, unit, expected)
    return {kind: 'if', condition, consequent, otherwise: undefined, type: tail ? unknown : unit}
  }
  const consequent = plain(c.infer(first, expected, slot, tail))
  const isBranch = second.kind === 'if' || second.kind === 'block'
  const otherwise = isBranch ? plain(c.infer(second, expected, slot, tail)) : c.value(second, expected)
  const type = choiceType(c, [first, second], [consequent, otherwise], expected)
  return {kind: 'if', condition, consequent, otherwise, type}
}

/** The type of a conditional: the expected type, or the common type of all branches. */
function choiceType(c: Checker, exprs: readonly Expr[], irs: readonly Ir[], expected: Type | undefined): Type {
  if (irs.length > 0 && irs.every(({type}) => type.kind === 'never')) return never
  return expected ?? joinedType(c, exprs, irs)
}

export function checkMatch(
  c: Checker,
  {subject: head, arms, start, end}: MatchExpr,
  expected: Type | undefined,
  tail: boolean,
): Ir {
  const raw = c.infer(head)
  const subject = arms.some(({pattern}) => namesResult(pattern)) ? handled(raw) : plain(raw)
  const bodies: Ir[] = []
  const exprs: Expr[] = []
  const checked = arms.map(({pattern: written, guard: test, body: stmt}) => {
    const mark = c.scope.mark
    const pattern = checkPattern(c, written, subject.type)
    const guard = test === undefined ? undefined : c.check(test, bool)
    if (stmt.kind !== 'expr') {
      const body = checkStatement(c, stmt).stmt
      c.scope.leave(mark)
      return {pattern, guard, body}
    }
    const value = plain(checkLast(c, stmt.value, expected, tail))
    bodies.push(value)
    exprs.push(stmt.value)
    c.scope.leave(mark)
    return {pattern, guard, body: {kind: 'expr', value} as const}
  })
  const missing = coverage(subject.type, arms)
  if (missing.length > 0)
    c.report(
      'typecheck.match_not_exhaustive',
      {start, end: Math.min(end, start + 5)},
      `match does not cover ${missing.join(', ')}.`,
      {missing, hints: [`Add an arm for ${missing.join(', ')}, or a _ arm.`]},
    )
  const type = bodies.length === 0 ? (arms.length === 0 ? unknown : never) : choiceType(c, exprs, bodies, expected)
  return {kind: 'match', subject, arms: checked, type}
}

/** The types of an element and its index; undefined if the type is not iterable. */
function elementTypes(type: Type): {item: Type; index: Type} | undefined {
  switch (type.kind) {
    case 'list':
    case 'set':
      return {item: type.of, index: int}
    case 'map':
      return {item: str, index: type.of}
    case 'str':
      return {item: str, index: int}
    default:
      return isUnknown(type) ? {item: unknown, index: int} : undefined
  }
}

export function checkFor(c: Checker, {item, index, list: head, body}: ForExpr): Ir {
  const list = c.value(head)
  const types = elementTypes(list.type)
  if (types === undefined)
    c.report('typecheck.not_iterable', head, `Cannot iterate over a value of type ${show(list.type)}.`, {
      hints: ['for iterates over a list; range(a, b) returns a list of ints.'],
    })
  const mark = c.scope.mark
  const bound = {
    item: loopPattern(c, item, types?.item ?? unknown),
    index: index && loopPattern(c, index, types?.index ?? int),
  }
  const checked = checkLoop(c, body)
  c.scope.leave(mark)
  return {kind: 'for', ...bound, list, body: checked.body, type: unit}
}

function loopPattern(c: Checker, pattern: Pattern, type: Type): IrPattern {
  if (!isIrrefutable(pattern))
    c.report('typecheck.pattern', pattern, 'for needs a pattern that always matches; use match for other patterns.')
  return checkPattern(c, pattern, type)
}

function bindName(c: Checker, name: Name, type: Type) {
  const binding = c.scope.bind(name.text, type, name)
  c.symbols?.define(name, () => describeBinding(binding))
  return binding
}

export function checkLambda(c: Checker, expr: LambdaExpr, expected: Type | undefined): Ir {
  const around = expected?.kind === 'function' ? expected : undefined
  const mark = c.scope.mark
  const before = c.frame
  const declared = expr.result === undefined ? undefined : c.declarations.typeOf(expr.result)
  const resultType = declared ?? (around === undefined || isUnknown(around.result) ? undefined : around.result)
  const returned: Type[] = []
  c.frame = {
    result: resultType ?? unknown,
    open: resultType === undefined,
    returned,
    loops: [],
    fallsThrough: false,
  }
  const {params, body} = c.scope.inLambda(() => ({
    params: expr.params.map(({name, type}, i) =>
      bindName(c, name, type === undefined ? (around?.params[i] ?? unknown) : c.declarations.typeOf(type)),
    ),
    body: resultType === undefined ? c.value(expr.body) : c.check(expr.body, resultType),
  }))
  c.frame = before
  c.scope.leave(mark)
  const type: Type = {
    kind: 'function',
    params: params.map((param) => param.type),
    result: resultType ?? returned.reduce((all, each) => join(all, each) ?? unknown, body.type),
  }
  return {kind: 'lambda', params, body, type}
}

export function checkTry(c: Checker, {operand: inner, mark}: Expr & {kind: 'try'}): Ir {
  const inferred = c.infer(inner)
  const {result: around, open} = c.frame
  const row = inferred.type.kind === 'outcome' && inferred.type.of.kind === 'option' ? inferred.type.of : undefined
  const operand = row !== undefined && around.kind === 'option' ? plain(inferred) : handled(inferred)
  const {type} = operand
  if (isUnknown(type)) return {kind: 'try', operand, of: 'result', type: unknown}
  if (type.kind !== 'result' && type.kind !== 'option') {
    c.report('typecheck.try_operand', inner, `'?' applies to Result or Option, found ${show(type)}.`)
    return nothing
  }
  if (around.kind !== type.kind && !(isUnknown(around) && !open)) {
    c.report(
      'typecheck.try_context',
      mark,
      ...tryContext(row !== undefined && around.kind !== 'result' ? row : type, around, mark),
    )
    return nothing
  }
  if (type.kind === 'result' && around.kind === 'result' && !fits(type.error, around.error))
    c.mismatch(inner, result(type.ok, type.error), result(type.ok, around.error))
  return {kind: 'try', operand, of: type.kind, type: type.kind === 'result' ? type.ok : type.of}
}

/** The message for a `?` in a function that returns neither the family of its operand, nor anything unknown. */
function tryContext(type: Type, around: Type, mark: Span): [message: string, details: DiagnosticDetails] {
  const isResult = type.kind === 'result'
  if (around.kind !== 'result' && around.kind !== 'option') {
    const [family, article] = isResult ? ['Result', 'a'] : ['Option', 'an']
    return [
      `'?' on ${article} ${family} needs a function that returns ${family}.`,
      {hints: [`Handle both cases with match, or change the return type to ${family}[...].`]},
    ]
  }
  const returned = `but the function returns ${show(around)}.`
  const insert = (replacement: string) => ({
    label: `Add ${replacement}`,
    start: mark.start,
    end: mark.start,
    replacement,
  })
  return isResult
    ? [
        `'?' on a Result returns its Error, ${returned}`,
        {hints: ['Write .ok()? to return None in place of an Error.'], fixes: [insert('.ok()')]},
      ]
    : [
        `'?' on an Option returns None, ${returned}`,
        {hints: ['Write .ok_or(error)? to return an Error in place of None.']},
      ]
}
