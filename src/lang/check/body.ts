import {type DiagnosticCode, type DiagnosticDetails, Diagnostics, type Span} from '../diagnostics/index.js'
import type {Block, Expr, Name} from '../syntax/index.js'
import {checkCall} from './calls.js'
import {checkChain} from './chain.js'
import {type Checker, type Frame, handled, nothing, plain} from './checker.js'
import {readCondition} from './conditions.js'
import {requireConstant} from './constants.js'
import {checkFor, checkIf, checkLambda, checkMatch, checkTry} from './control.js'
import type {Declarations} from './declarations.js'
import {checkName} from './identifiers.js'
import type {FunctionType, Ir, ParamType} from './ir.js'
import {checkIndex, checkMember} from './members.js'
import {asDecimal, checkBinary, checkUnary} from './operators.js'
import {abbreviatedObject, checkList, checkObject, checkTuple, differingFields} from './records.js'
import {Scope} from './scope.js'
import {checkBlock} from './statements.js'
import type {Symbols} from './symbols.js'
import {timeHint} from './time-builtins.js'
import {
  bool,
  dec,
  fits,
  float,
  ignored,
  int,
  isNumber,
  isTime,
  isUnknown,
  type Slot,
  show,
  str,
  type Type,
  unit,
  unknown,
} from './types.js'
import {type Visitor, visit} from './visitor.js'

/** The context that all functions of a program share. */
interface BodyContext {
  declarations: Declarations
  diagnostics: Diagnostics
  symbols: Symbols | undefined
  source: string
}

export function checkBody(made: FunctionType, body: Block, context: BodyContext): void {
  const {decl, params, result: declared} = made
  const c = new BodyChecker(made, context)
  decl.params.forEach(({fallback}, i) => {
    const param = params[i] as ParamType
    if (fallback !== undefined) param.fallback = c.check(fallback, param.type, 'slot')
  })
  const returnsNothing = declared.kind === 'unit'
  made.body = checkBlock(c, body, returnsNothing ? ignored : declared, true)
  if (c.frame.fallsThrough && !returnsNothing && !isUnknown(declared)) {
    const expectedType = show(declared)
    c.report('typecheck.missing_return', made.span, `'${made.name}' must return ${expectedType} on every path.`, {
      expectedType,
    })
  }
  made.slots = c.scope.slots
}

/** Checks the constants of a program, in source order. */
export function checkConstants(context: BodyContext): void {
  for (const constant of context.declarations.constants.values()) {
    const {decl, fault} = constant
    const {name, type, value: expr} = decl
    if (fault !== undefined || expr === undefined) continue
    const diagnostics = new Diagnostics()
    const c = new BodyChecker(nowhere(name), {...context, diagnostics})
    const value =
      type === undefined ? c.value(expr) : c.check(expr, context.declarations.typeOf(type, diagnostics), 'slot')
    requireConstant(diagnostics, expr, value)
    const found = diagnostics.sorted().find(({severity}) => severity === 'error')
    if (found === undefined) constant.value = value
    constant.fault = found
    // Only uses by functions count.
    for (const used of context.declarations.constants.values()) used.isUsed = false
    context.symbols?.define(name, () => `const ${name.text}: ${show(value.type)}`, decl.doc)
  }
}

/** The time of a row, for a column of a type. */
const nowAs = (type: Type): Ir =>
  type.kind === 'datetime'
    ? {kind: 'builtin', name: 'DateTime.now', args: [], type}
    : {kind: 'builtin', name: 'std.time.now_ms', args: [], type: int}

/** Checks the defaults of columns: constants, and `now()`. */
export function checkDefaults(context: BodyContext): void {
  const {declarations, diagnostics} = context
  for (const {column, expr} of declarations.defaults) {
    const c = new BodyChecker(nowhere({text: column.name, ...column.span}), context)
    const isNow = expr.kind === 'call' && expr.callee.kind === 'name' && expr.callee.name.text === 'now'
    if (column.stamp !== undefined || (isNow && expr.args.length === 0 && !declarations.functions.has('now'))) {
      const now = nowAs(column.base)
      column.fallback = now
      if (!fits(now.type, column.type, 'slot')) c.mismatch(expr, now.type, column.type)
      continue
    }
    const value = c.check(expr, column.type, 'slot')
    requireConstant(diagnostics, expr, value, true)
    column.fallback = value
  }
  declarations.defaults.length = 0
}

/** Checks the conditions of columns and indexes. */
export function checkConditions(context: BodyContext): void {
  const {conditions} = context.declarations
  for (const {table, target, expr} of conditions) {
    const c = new BodyChecker(nowhere({text: table.name, ...table.span}), context)
    const condition = readCondition(c, table, expr)
    if (condition !== undefined) Object.assign(target, 'columns' in target ? {where: condition} : {check: condition})
  }
  conditions.length = 0
}

/** The function around a constant, which has no effects. */
const nowhere = (span: Name): FunctionType => ({
  name: span.text,
  decl: undefined as never,
  params: [],
  result: unknown,
  body: undefined,
  slots: 0,
  effects: [],
  chains: [],
  calls: [],
  span,
})

class BodyChecker implements Checker {
  readonly declarations: Declarations
  readonly scope: Scope
  readonly symbols: Symbols | undefined
  readonly source: string
  readonly function: FunctionType
  frame: Frame
  readonly #diagnostics: Diagnostics

  constructor(made: FunctionType, {declarations, diagnostics, symbols, source}: BodyContext) {
    this.function = made
    this.scope = new Scope(made.params)
    this.declarations = declarations
    this.symbols = symbols
    this.source = source
    this.#diagnostics = diagnostics
    this.frame = {result: made.result, open: false, returned: [], loops: [], fallsThrough: false}
  }

  report(code: DiagnosticCode, span: Span, message: string, details?: DiagnosticDetails): void {
    this.#diagnostics.report(code, span, message, details)
  }

  check(expr: Expr, expected: Type, slot: Slot = 'exact', code: DiagnosticCode = 'typecheck.mismatch'): Ir {
    const inferred = this.infer(expr, expected, slot)
    const ir = expected.kind === 'result' ? handled(inferred) : plain(inferred)
    if (fits(ir.type, expected, slot)) return converted(ir, expected)
    const present = expected.kind === 'option' && slot === 'slot' ? expected.of : expected
    if (present.kind === 'dec' && ir.type.kind === 'int') return asDecimal(ir)
    this.mismatch(expr, ir.type, expected, code)
    return ir
  }

  value(expr: Expr, expected?: Type): Ir {
    return plain(this.infer(expr, expected))
  }

  mismatch(span: Span, found: Type, expected: Type, code: DiagnosticCode = 'typecheck.mismatch'): void {
    const [expectedType, foundType] = [show(expected), show(found)]
    const hint = hintFor(found, expected) ?? (isTime(expected) ? timeHint(found, expected) : undefined)
    this.report(code, span, `Expected ${expectedType}, found ${foundType}.`, {
      expectedType,
      foundType,
      ...(hint === undefined ? {} : {hints: [hint]}),
    })
  }

  infer(expr: Expr, expected?: Type, slot: Slot = 'exact', tail = false): Ir {
    const present =
      expected?.kind === 'option' && slot === 'slot' && !(expr.kind === 'name' || expr.kind === 'call')
        ? expected.of
        : expected
    return visit(expr, checks, {c: this, expected, present, slot, tail})
  }
}

/** The expected type of an expression. `present`: the same without `Option`, which a slot adds. */
interface Expectation {
  c: Checker
  expected: Type | undefined
  present: Type | undefined
  slot: Slot
  tail: boolean
}

const literal =
  (type: Type) =>
  ({value}: {value: number | string | boolean}): Ir => ({kind: 'const', value, type})

const constText = (value: string): Ir => ({kind: 'const', value, type: str})
const concatenate = (left: Ir, right: Ir): Ir => ({kind: 'concat', left, right, type: str})

/** Warns of `"{name}"` with the name of a variable. */
function warnInterpolation(c: Checker, {value, start, end}: Expr & {kind: 'str'}): void {
  const name = /\{([A-Za-z_]\w*)\}/.exec(value)?.[1]
  if (name === undefined || c.scope.find(name) === undefined || c.source[start] === '`') return
  c.report('lint.text_interpolation', {start, end}, `'{${name}}' is literal text; f"{${name}}" contains the value.`, {
    fixes: [{label: 'Write f before the string', start, end: start, replacement: 'f'}],
  })
}

const checks: Visitor<Expr, Ir, Expectation> = {
  int: literal(int),
  float: literal(float),
  dec: literal(dec),
  str: (expr, {c}) => {
    warnInterpolation(c, expr)
    return {kind: 'const', value: expr.value, type: str}
  },
  text: ({parts}, {c}) =>
    parts.map((part) => (part.kind === 'str' ? constText(part.value) : c.value(part))).reduce(concatenate),
  bool: literal(bool),
  unit: () => ({kind: 'const', value: undefined, type: unit}),
  missing: () => nothing,
  name: (expr, {c, expected}) => checkName(c, expr, expected),
  tuple: ({items}, {c, present}) => checkTuple(c, items, present),
  list: (expr, {c, present}) => checkList(c, expr, present),
  object: (expr, {c, present}) => checkObject(c, expr, present),
  block: (expr, {c, expected, present, tail}) => {
    const abbreviated = holdsFields(present) ? abbreviatedObject(c, expr) : undefined
    return abbreviated === undefined ? checkBlock(c, expr, expected, tail) : checkObject(c, abbreviated, present)
  },
  if: (expr, {c, expected, slot, tail}) => checkIf(c, expr, expected, slot, tail),
  match: (expr, {c, expected, tail}) => checkMatch(c, expr, expected, tail),
  for: (expr, {c}) => checkFor(c, expr),
  lambda: (expr, {c, present}) => checkLambda(c, expr, present),
  unary: (expr, {c}) => checkUnary(c, expr),
  binary: (expr, {c}) => checkBinary(c, expr),
  index: (expr, {c}) => checkIndex(c, expr),
  try: (expr, {c}) => checkTry(c, expr),
  member: (expr, {c}) => checkChain(c, expr) ?? checkMember(c, expr),
  call: (expr, {c, expected}) => checkChain(c, expr) ?? checkCall(c, expr, expected),
}

const holdsFields = (type: Type | undefined) => type?.kind === 'record' || type?.kind === 'row' || type?.kind === 'map'

/** Converts an unnamed object to a map, and a list to a set, if the expected type is one. */
function converted(ir: Ir, expected: Type): Ir {
  const to = expected.kind === 'option' ? expected.of : expected
  if (to.kind === 'map' && ir.type.kind === 'object') return {kind: 'builtin', name: 'as_map', args: [ir], type: to}
  if (to.kind === 'set' && ir.type.kind === 'list') return {kind: 'builtin', name: 'as_set', args: [ir], type: to}
  return ir
}

function hintFor(found: Type, expected: Type): string | undefined {
  if (found.kind === 'option' && fits(found.of, expected)) return 'The value may be absent: use match, unwrap_or or ?.'
  if (expected.kind === 'option' && fits(found, expected.of)) return 'Wrap the value in Some(...).'
  if (expected.kind === 'result' && fits(found, expected.ok)) return 'Wrap the value in Ok(...).'
  if (expected.kind === 'str' && isNumber(found)) return 'Convert the value with str(...).'
  if (expected.kind === 'int' && (found.kind === 'float' || found.kind === 'str'))
    return 'Convert the value with int(...).'
  return differingFields(found, expected)
}
