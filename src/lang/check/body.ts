import {
  type DiagnosticCode,
  type DiagnosticDetails,
  type Diagnostics,
  didYouMean,
  near,
  type Span,
} from '../diagnostics/index.js'
import type {
  Arg,
  BinaryExpr,
  Block,
  CallExpr,
  Expr,
  ForExpr,
  IfExpr,
  LambdaExpr,
  ListExpr,
  MatchExpr,
  MemberExpr,
  Name,
  NameExpr,
  ObjectExpr,
  Stmt,
} from '../syntax/index.js'
import {familyOf, functions, methods, namespaced, namespaces, type Signature} from './builtins.js'
import {checkChain} from './chain.js'
import {type Declarations, fixName, signature} from './declare.js'
import type {Chain, Comparison, Ir, IrStmt, NumberMode} from './ir.js'
import {checkPattern, coverage, isIrrefutable, namesResult} from './pattern.js'
import type {Scope} from './scope.js'
import type {Symbols} from './symbols.js'
import {
  type Binding,
  bool,
  dec,
  type Effect,
  type FieldType,
  type FunctionType,
  fits,
  float,
  ignored,
  int,
  isNumber,
  isUnknown,
  join,
  list,
  never,
  option,
  type ParamType,
  result,
  type Slot,
  type SumType,
  show,
  str,
  type Type,
  unit,
  unknown,
  type VariantType,
} from './types.js'

/** What surrounds an expression: where `return` and `?` lead. */
interface Frame {
  result: Type
  /** A lambda without a declared type takes whatever comes back. */
  open: boolean
  returned: Type[]
}

const nothing: Ir = {kind: 'const', value: undefined, type: unknown}

/**
 * Checks the body of one function against its declared types: bidirectional, each expression with the type that is
 * expected of it where there is one.
 */
export class BodyChecker {
  readonly declarations: Declarations
  readonly scope: Scope
  readonly symbols: Symbols | undefined
  readonly source: string
  readonly unknown = nothing
  readonly #diagnostics: Diagnostics
  readonly #function: FunctionType
  #frame: Frame
  /** Of the loops around this place, whether they are left by `break`. */
  readonly #loops: {broken: boolean}[] = []
  #fallsThrough = false

  constructor(
    made: FunctionType,
    scope: Scope,
    context: {declarations: Declarations; diagnostics: Diagnostics; symbols: Symbols | undefined; source: string},
  ) {
    this.#function = made
    this.scope = scope
    this.declarations = context.declarations
    this.symbols = context.symbols
    this.source = context.source
    this.#diagnostics = context.diagnostics
    this.#frame = {result: made.result, open: false, returned: []}
  }

  get functionName(): string {
    return this.#function.name
  }

  get chains(): Chain[] {
    return this.#function.chains
  }

  /** Whether what stands here may run more than once in a call. */
  get repeats(): boolean {
    return this.#loops.length > 0 || this.scope.isInLambda
  }

  get effects(): Effect[] {
    return this.#function.effects
  }

  report(code: DiagnosticCode, span: Span, message: string, details?: DiagnosticDetails): void {
    this.#diagnostics.report(code, span, message, details)
  }

  /** Checks the function whole. */
  run(): void {
    const {decl, params, result: declared} = this.#function
    for (const [i, {fallback}] of decl.params.entries())
      if (fallback !== undefined)
        (params[i] as ParamType).fallback = this.check(fallback, (params[i] as ParamType).type, 'slot')
    const returnsNothing = declared.kind === 'unit'
    this.#function.body = this.#block(decl.body, returnsNothing ? ignored : declared, true)
    if (this.#fallsThrough && !returnsNothing && !isUnknown(declared))
      this.report(
        'typecheck.missing_return',
        this.#function.span,
        `'${this.#function.name}' must return ${show(declared)} on every path.`,
        {
          expectedType: show(declared),
        },
      )
    this.#function.slots = this.scope.slots
  }

  // The three ways to look at an expression

  /** An expression of which a type is expected. */
  check(expr: Expr, expected: Type, slot: Slot = 'exact', code: DiagnosticCode = 'typecheck.mismatch'): Ir {
    const ir = this.#settled(this.#infer(expr, expected, slot), expected)
    if (fits(ir.type, expected, slot)) return this.#converted(ir, expected)
    this.#mismatch(expr, ir.type, expected, code)
    return ir
  }

  /** An expression whose value is used, whatever its type: an operation on the database has happened. */
  value(expr: Expr, expected?: Type): Ir {
    return plain(this.#infer(expr, expected))
  }

  #mismatch(expr: Expr, found: Type, expected: Type, code: DiagnosticCode = 'typecheck.mismatch'): void {
    const [expectedType, foundType] = [show(expected), show(found)]
    const hint = hintFor(found, expected)
    this.report(code, expr, `Expected ${expectedType}, found ${foundType}.`, {
      expectedType,
      foundType,
      ...(hint === undefined ? {} : {hints: [hint]}),
    })
  }

  /** Whether a failure of the database is handled depends on what is expected. */
  #settled(ir: Ir, expected: Type): Ir {
    if (ir.type.kind !== 'outcome') return ir
    if (expected.kind !== 'result') return plain(ir)
    return {kind: 'settle', how: 'result', value: ir, type: result(ir.type.of, unknown)}
  }

  /** An unnamed object that stands for a map becomes one. */
  #converted(ir: Ir, expected: Type): Ir {
    const to = expected.kind === 'option' ? expected.of : expected
    if (to.kind === 'map' && ir.type.kind === 'object') return {kind: 'builtin', name: 'as_map', args: [ir], type: to}
    if (to.kind === 'set' && ir.type.kind === 'list') return {kind: 'builtin', name: 'as_set', args: [ir], type: to}
    return ir
  }

  // Statements

  /**
   * A block, whose last expression is its value. `tail`: falling out of it ends the function, so that a missing value
   * is a missing return.
   */
  #block(block: Block, expected: Type | undefined, tail = false): Ir {
    const mark = this.scope.mark
    const statements: IrStmt[] = []
    let type: Type = unit
    for (const [i, stmt] of block.statements.entries()) {
      const last = i === block.statements.length - 1
      if (last && stmt.kind === 'expr') {
        const value = this.#last(stmt.value, expected, tail)
        statements.push({kind: 'expr', value})
        type = type.kind === 'never' ? never : value.type
      } else if (this.#statement(stmt, statements)) type = never
    }
    this.scope.leave(mark)
    if (type === unit && tail) this.#fallsThrough = true
    const isValue = block.statements.at(-1)?.kind === 'expr'
    if (type === unit && !isValue && !tail && expected !== undefined && !fits(unit, expected))
      this.#mismatch({...block}, unit, expected)
    return {
      kind: 'block',
      statements,
      type: type === unit && (tail || !isValue) && expected !== undefined ? unknownUnless(expected) : type,
    }
  }

  #last(expr: Expr, expected: Type | undefined, tail: boolean): Ir {
    if (tail) {
      const {kind} = expr
      if (kind === 'block') return this.#block(expr, expected, true)
      if (kind === 'if') return this.#if(expr, expected, 'exact', true)
      if (kind === 'match') return this.#match(expr, expected, true)
      if (kind === 'for') {
        this.#fallsThrough = true
        return this.value(expr)
      }
    }
    if (expected === undefined) return this.#infer(expr, expected)
    return this.check(expr, expected)
  }

  /** Whether the statement does not come back. */
  #statement(stmt: Stmt, into: IrStmt[]): boolean {
    switch (stmt.kind) {
      case 'let':
        into.push(this.#let(stmt))
        return false
      case 'return':
        into.push(this.#return(stmt))
        return true
      case 'assign':
        into.push(this.#assign(stmt))
        return false
      case 'while': {
        const condition = this.check(stmt.condition, bool)
        const {body, broken} = this.#loop(stmt.body)
        into.push({kind: 'while', condition, body})
        return stmt.condition.kind === 'bool' && stmt.condition.value && !broken
      }
      case 'loop': {
        const {body, broken} = this.#loop(stmt.body)
        into.push({kind: 'loop', body})
        return !broken
      }
      case 'break':
      case 'continue':
        this.#leaveLoop(stmt.kind, stmt)
        into.push({kind: stmt.kind})
        return true
      case 'expr': {
        const value = this.check(stmt.value, ignored)
        into.push({kind: 'expr', value})
        return value.type.kind === 'never'
      }
    }
  }

  #leaveLoop(kind: 'break' | 'continue', span: Span): void {
    const loop = this.#loops.at(-1)
    if (loop === undefined) this.report('parse.unexpected_token', span, `'${kind}' stands outside of a loop.`)
    else if (kind === 'break') loop.broken = true
  }

  #loop(body: Block): {body: Ir; broken: boolean} {
    const loop = {broken: false}
    this.#loops.push(loop)
    const ir = this.#block(body, ignored)
    this.#loops.pop()
    return {body: ir, broken: loop.broken}
  }

  #let({pattern, type: node, value: expr, mutable}: Stmt & {kind: 'let'}): IrStmt {
    const declared = node === undefined ? undefined : this.declarations.typeOf(node)
    // Without a declared type, an operation's outcome is kept, and each use settles it.
    const value = declared === undefined ? this.#infer(expr) : this.check(expr, declared, 'slot')
    const keeps = pattern.kind === 'bind'
    const settled = keeps ? value : plain(value)
    if (!isIrrefutable(pattern))
      this.report(
        'typecheck.pattern',
        pattern,
        'let takes a name, _ or a tuple of them; use match for what may not fit.',
      )
    return {kind: 'let', pattern: checkPattern(this, pattern, declared ?? settled.type, mutable), value: settled}
  }

  #return(stmt: Stmt & {kind: 'return'}): IrStmt {
    const {result: expected, open, returned} = this.#frame
    if (stmt.value === undefined) {
      if (!open && !fits(unit, expected) && expected.kind !== 'unit')
        this.report('typecheck.mismatch', stmt, `Expected ${show(expected)}, found Unit.`, {
          expectedType: show(expected),
          foundType: 'Unit',
        })
      return {kind: 'return', value: undefined}
    }
    if (!open) return {kind: 'return', value: this.check(stmt.value, expected)}
    const value = this.value(stmt.value)
    returned.push(value.type)
    return {kind: 'return', value}
  }

  #assign({target, operator, value: expr}: Stmt & {kind: 'assign'}): IrStmt {
    const binding = target.kind === 'name' ? this.scope.find(target.name.text) : undefined
    if (target.kind !== 'name' || binding === undefined) {
      if (target.kind === 'name' && !this.declarations.functions.has(target.name.text)) this.#undefined(target.name)
      else if (target.kind !== 'missing')
        this.report('typecheck.assign_target', target, 'Only a variable can be assigned to; values do not change.', {
          hints: ['Make a new value instead, as list.append(item) does.'],
        })
      if (target.kind !== 'name') this.value(target)
      return {kind: 'expr', value: this.value(expr)}
    }
    this.symbols?.use(target.name, binding.span, () => describe(binding))
    if (!binding.mutable)
      this.report('typecheck.immutable', target, `'${binding.name}' is not mutable; declare it with 'let mut'.`, {
        related: [{...binding.span, message: `'${binding.name}' is declared`}],
      })
    if (operator === '=') return {kind: 'assign', binding, value: this.#assigned(expr, binding)}
    const span = {start: target.start, end: expr.end, depth: 0}
    const value = this.#arithmetic({kind: 'binary', operator, left: target, right: expr, ...span})
    if (!fits(value.type, plainType(binding.type))) this.#mismatch(expr, value.type, plainType(binding.type))
    const kept: Ir = binding.type.kind === 'outcome' ? {kind: 'ok', value, type: binding.type} : value
    return {kind: 'assign', binding, value: kept}
  }

  #assigned(expr: Expr, binding: Binding): Ir {
    const {type} = binding
    if (type.kind === 'outcome') {
      const value = this.#infer(expr)
      if (value.type.kind === 'outcome') return value
      if (!fits(value.type, type.of)) this.#mismatch(expr, value.type, type.of)
      return {kind: 'ok', value, type}
    }
    const value = this.check(expr, type, 'slot')
    // A list that was empty when it was declared becomes what is put into it.
    const wider = type.kind === 'list' && isUnknown(type.of) ? join(type, value.type) : undefined
    if (wider !== undefined) binding.type = wider
    return value
  }

  // Expressions

  #infer(expr: Expr, expected?: Type, slot: Slot = 'exact'): Ir {
    const wanted =
      expected?.kind === 'option' && slot === 'slot' && !(expr.kind === 'name' || expr.kind === 'call')
        ? expected.of
        : expected
    switch (expr.kind) {
      case 'int':
        return {kind: 'const', value: expr.value, type: int}
      case 'float':
        return {kind: 'const', value: expr.value, type: float}
      case 'dec':
        return {kind: 'const', value: expr.value, type: dec}
      case 'str':
        return {kind: 'const', value: expr.value, type: str}
      case 'bool':
        return {kind: 'const', value: expr.value, type: bool}
      case 'unit':
        return {kind: 'const', value: undefined, type: unit}
      case 'missing':
        return nothing
      case 'name':
        return this.#name(expr, expected)
      case 'tuple':
        return this.#tuple(expr.items, wanted)
      case 'list':
        return this.#list(expr, wanted)
      case 'object':
        return this.#object(expr, wanted)
      case 'block':
        return this.#block(expr, expected)
      case 'if':
        return this.#if(expr, expected, slot)
      case 'match':
        return this.#match(expr, expected)
      case 'for':
        return this.#for(expr)
      case 'lambda':
        return this.#lambda(expr, wanted)
      case 'unary':
        return this.#unary(expr)
      case 'binary':
        return this.#binary(expr)
      case 'index':
        return this.#index(expr)
      case 'try':
        return this.#try(expr)
      case 'member':
        return checkChain(this, expr) ?? this.#member(expr)
      case 'call':
        return checkChain(this, expr) ?? this.#call(expr, expected)
    }
  }

  #tuple(items: readonly Expr[], expected: Type | undefined): Ir {
    const types = expected?.kind === 'tuple' ? expected.items : []
    const irs = items.map((item, i) => {
      const type = types[i]
      return type === undefined ? this.value(item) : this.check(item, type, 'slot')
    })
    return {kind: 'tuple', items: irs, type: {kind: 'tuple', items: irs.map(({type}, i) => types[i] ?? type)}}
  }

  #list(expr: ListExpr, expected: Type | undefined): Ir {
    if (expected?.kind === 'list' || expected?.kind === 'set') {
      const items = expr.items.map((item) => this.check(item, expected.of, 'slot'))
      if (isUnknown(expected.of)) return {kind: 'list', items, type: list(this.#joined(expr.items, items))}
      const made: Ir = {kind: 'list', items, type: expected}
      return expected.kind === 'set' ? {kind: 'builtin', name: 'as_set', args: [made], type: expected} : made
    }
    const items = expr.items.map((item) => this.value(item))
    return {kind: 'list', items, type: list(this.#joined(expr.items, items))}
  }

  /** The type that all of some values have. */
  #joined(exprs: readonly Expr[], irs: readonly Ir[]): Type {
    let type: Type = unknown
    for (const [i, ir] of irs.entries()) {
      const both = join(type, ir.type)
      if (both === undefined) this.#mismatch(exprs[i] as Expr, ir.type, type)
      else type = both
    }
    return type
  }

  // Names

  #name(expr: NameExpr, expected: Type | undefined): Ir {
    const {name} = expr
    const {text} = name
    const binding = this.scope.find(text)
    if (binding !== undefined) {
      this.symbols?.use(name, binding.span, () => describe(binding))
      return {kind: 'local', binding, type: binding.type}
    }
    const target = this.declarations.functions.get(text)
    if (target !== undefined) {
      this.#callTo(target, name)
      return {
        kind: 'function',
        target,
        type: {kind: 'function', params: target.params.map(({type}) => type), result: target.result},
      }
    }
    const constructed = this.#constant(name, expected)
    if (constructed !== undefined) return constructed
    if (text === 'null' || text === 'nil') {
      this.report('typecheck.null', name, 'There is no null; write None.', {
        fixes: [{label: 'Write None', start: name.start, end: name.end, replacement: 'None'}],
      })
      return nothing
    }
    if (text === 'db') {
      this.report('typecheck.table_handle', name, 'db is not a value; name a table and an operation, as db.Task.all().')
      return nothing
    }
    const builtin = functions[text]
    if (builtin !== undefined && Object.hasOwn(functions, text)) return this.#builtinValue(text, builtin)
    this.#undefined(name)
    return nothing
  }

  /** `None`, `Unit` and variants without fields. */
  #constant(name: Name, expected: Type | undefined): Ir | undefined {
    if (name.text === 'None') return {kind: 'const', value: null, type: option(unknown)}
    if (name.text === 'Unit') return {kind: 'const', value: undefined, type: unit}
    const found = this.#variant(name.text, expected)
    if (found === undefined) return undefined
    this.symbols?.use(name, found.variant.span, () => `${found.sum.name}.${name.text}`)
    return this.#construct(name, found, [])
  }

  #builtinValue(name: string, {params, result: gives}: Signature): Ir {
    const type: Type = {kind: 'function', params, result: typeof gives === 'function' ? unknown : gives}
    const binding: Binding = {
      name: '_',
      type: unknown,
      slot: this.scope.bind('', unknown, {start: 0, end: 0}).slot,
      mutable: false,
      lambdas: 0,
      boxed: false,
      span: {start: 0, end: 0},
    }
    return {
      kind: 'lambda',
      params: [binding],
      body: {kind: 'builtin', name, args: [{kind: 'local', binding, type: unknown}], type: unknown},
      type,
    }
  }

  #undefined(name: Name): void {
    const known = [
      ...this.scope.names(),
      ...this.declarations.functions.keys(),
      ...this.declarations.variants.keys(),
      ...Object.keys(functions),
    ]
    const suggestion = near(name.text, known)
    this.report(
      'typecheck.undefined',
      name,
      `Undefined name '${name.text}'.${didYouMean(suggestion)}`,
      fixName(name, suggestion),
    )
  }

  #variant(name: string, expected: Type | undefined): {sum: SumType; variant: VariantType} | undefined {
    const found = this.declarations.variants.get(name)
    if (found === undefined) return undefined
    const wanted = expected?.kind === 'option' ? expected.of : expected
    return found.find(({sum}) => wanted?.kind === 'sum' && wanted.sum === sum) ?? found[0]
  }

  // Objects

  #object(expr: ObjectExpr, expected: Type | undefined): Ir {
    if (expr.type !== undefined) return this.#typedObject(expr, expr.type, expected)
    if (expected?.kind === 'record') return this.#record(expr, expected.record.name, expected.record.fields, expected)
    if (expected?.kind === 'row') return this.#rowLiteral(expr, expected)
    if (expected?.kind === 'map') {
      const entries = this.#entries(expr, () => expected.of)
      return {kind: 'map', entries, type: expected}
    }
    const entries = this.#entries(expr, () => undefined)
    return {
      kind: 'object',
      entries,
      type: {kind: 'object', fields: new Map(entries.map(([name, {type}]) => [name, type]))},
    }
  }

  #typedObject(expr: ObjectExpr, name: Name, expected: Type | undefined): Ir {
    const record = this.declarations.records.get(name.text)
    if (record !== undefined) {
      this.symbols?.use(name, record.span, () => `type ${record.name}`, record.doc)
      return this.#record(expr, record.name, record.fields, {kind: 'record', record})
    }
    const found = this.#variant(name.text, expected)
    if (found !== undefined) {
      const {sum, variant} = found
      this.symbols?.use(name, variant.span, () => `${sum.name}.${variant.name}`)
      const {entries} = this.#record(expr, variant.name, variant.fields, {kind: 'sum', sum}) as Ir & {kind: 'object'}
      return {kind: 'variant', variant, sum, args: entries, type: {kind: 'sum', sum}}
    }
    const table = this.declarations.tables.get(name.text)
    if (table !== undefined) return this.#rowLiteral(expr, {kind: 'row', table, selected: undefined})
    const suggestion = near(name.text, [...this.declarations.records.keys(), ...this.declarations.variants.keys()])
    this.report(
      'typecheck.unknown_type',
      name,
      `Unknown type '${name.text}'.${didYouMean(suggestion)}`,
      fixName(name, suggestion),
    )
    this.#entries(expr, () => undefined)
    return nothing
  }

  #rowLiteral(expr: ObjectExpr, type: Type & {kind: 'row'}): Ir {
    const {table} = type
    return this.#record(expr, table.name, [table.id, ...table.columns], type)
  }

  #entries({entries}: ObjectExpr, typeOf: (key: Name) => Type | undefined): (readonly [string, Ir])[] {
    const seen = new Set<string>()
    return entries.map(({key, value}) => {
      if (seen.has(key.text)) this.report('typecheck.duplicate_field', key, `'${key.text}' is given twice.`)
      seen.add(key.text)
      if (key.text === '__proto__')
        this.report(
          'typecheck.reserved_column',
          key,
          "Key '__proto__' is reserved: names that start with _ belong to the store.",
        )
      const type = typeOf(key)
      return [key.text, type === undefined ? this.value(value) : this.check(value, type, 'slot')]
    })
  }

  #record(expr: ObjectExpr, name: string, fields: readonly FieldType[], type: Type): Ir {
    const entries = this.#entries(expr, (key) => {
      const field = fields.find((each) => each.name === key.text)
      if (field === undefined) this.#unknownField(key, name, fields)
      else this.symbols?.use(key, field.span, () => `${name}.${field.name}: ${show(field.type)}`)
      return field?.type ?? unknown
    })
    const given = new Set(expr.entries.map(({key}) => key.text))
    const missing = fields
      .filter((field) => field.type.kind !== 'option' && !given.has(field.name))
      .map((field) => field.name)
    if (missing.length > 0)
      this.report(
        'typecheck.missing_field',
        {start: expr.start, end: Math.min(expr.end, expr.start + 1)},
        `${name} needs ${missing.join(', ')}.`,
        {missing},
      )
    // What may be absent is None, so that a row or a record has all its fields.
    const absent = fields.filter((field) => field.type.kind === 'option' && !given.has(field.name))
    const none = absent.map((field): readonly [string, Ir] => [
      field.name,
      {kind: 'const', value: null, type: field.type},
    ])
    return {kind: 'object', entries: [...entries, ...none], type}
  }

  #unknownField(name: Name, of: string, fields: readonly FieldType[]): void {
    const names = fields.map((field) => field.name)
    const suggestion = near(name.text, names)
    this.report('typecheck.unknown_field', name, `${of} has no field '${name.text}'.${didYouMean(suggestion)}`, {
      ...(names.length === 0 ? {} : {hints: [`Fields of ${of}: ${names.join(', ')}`]}),
      ...fixName(name, suggestion),
    })
  }

  // Control

  #if(
    {condition: head, consequent: first, otherwise: second}: IfExpr,
    expected: Type | undefined,
    slot: Slot = 'exact',
    tail = false,
  ): Ir {
    const condition = this.check(head, bool)
    if (second === undefined) {
      const consequent = this.#block(first, ignored)
      if (tail) this.#fallsThrough = true
      else if (expected !== undefined && !fits(unit, expected)) this.#mismatch(first, unit, expected)
      return {kind: 'if', condition, consequent, otherwise: undefined, type: tail ? unknown : unit}
    }
    const consequent = this.#block(first, expected, tail)
    const otherwise = this.#branch(second, expected, slot, tail)
    return {
      kind: 'if',
      condition,
      consequent: plain(consequent),
      otherwise: plain(otherwise),
      type: this.#branches([first, second], [plain(consequent), plain(otherwise)], expected),
    }
  }

  #branch(expr: Expr, expected: Type | undefined, slot: Slot, tail: boolean): Ir {
    if (expr.kind === 'if') return this.#if(expr, expected, slot, tail)
    return expr.kind === 'block' ? this.#block(expr, expected, tail) : this.value(expr, expected)
  }

  /** The type of a choice: what is expected, or what all branches agree on. */
  #branches(exprs: readonly Expr[], irs: readonly Ir[], expected: Type | undefined): Type {
    if (irs.length > 0 && irs.every(({type}) => type.kind === 'never')) return never
    if (expected === undefined) return this.#joined(exprs, irs)
    return expected
  }

  #match({subject: head, arms, start, end}: MatchExpr, expected: Type | undefined, tail = false): Ir {
    const raw = this.#infer(head)
    const handled = raw.type.kind === 'outcome' && arms.some(({pattern}) => namesResult(pattern))
    const subject = handled ? this.#settled(raw, result(unknown)) : plain(raw)
    const bodies: Ir[] = []
    const exprs: Expr[] = []
    const checked = arms.map((arm) => {
      const mark = this.scope.mark
      const pattern = checkPattern(this, arm.pattern, subject.type)
      const guard = arm.guard === undefined ? undefined : this.check(arm.guard, bool)
      const statements: IrStmt[] = []
      if (arm.body.kind === 'expr') {
        const body = plain(this.#last(arm.body.value, expected, tail))
        bodies.push(body)
        exprs.push(arm.body.value)
        statements.push({kind: 'expr', value: body})
      } else this.#statement(arm.body, statements)
      this.scope.leave(mark)
      return {pattern, guard, body: statements[0] as IrStmt}
    })
    const missing = coverage(subject.type, arms)
    if (missing.length > 0)
      this.report(
        'typecheck.match_not_exhaustive',
        {start, end: Math.min(end, start + 5)},
        `match does not cover ${missing.join(', ')}.`,
        {
          missing,
          hints: [`Add an arm for ${missing.join(', ')}, or one for _.`],
        },
      )
    const type = bodies.length === 0 ? (arms.length === 0 ? unknown : never) : this.#branches(exprs, bodies, expected)
    return {kind: 'match', subject, arms: checked, type}
  }

  #for({item, index, list: head, body}: ForExpr): Ir {
    const over = this.value(head)
    const {type} = over
    const iterable =
      type.kind === 'list' || type.kind === 'set' || type.kind === 'map' || type.kind === 'str' || isUnknown(type)
    if (!iterable)
      this.report('typecheck.not_iterable', head, `A ${show(type)} cannot be iterated over.`, {
        hints: ['for goes through a list; range(a, b) makes one of numbers.'],
      })
    const mark = this.scope.mark
    const itemType =
      type.kind === 'list' || type.kind === 'set' ? type.of : type.kind === 'map' || type.kind === 'str' ? str : unknown
    const bind = (name: Name | undefined, of: Type) => {
      if (name === undefined || name.text === '_') return undefined
      const binding = this.scope.bind(name.text, of, name)
      this.symbols?.define(name, () => describe(binding))
      return binding
    }
    const itemBinding = bind(item, itemType)
    const indexBinding = bind(index, type.kind === 'map' ? type.of : int)
    const {body: ir} = this.#loop(body)
    this.scope.leave(mark)
    return {kind: 'for', item: itemBinding, index: indexBinding, list: over, body: ir, type: unit}
  }

  #lambda(expr: LambdaExpr, expected: Type | undefined): Ir {
    const wanted = expected?.kind === 'function' ? expected : undefined
    const mark = this.scope.mark
    const before = this.#frame
    const loops = this.#loops.splice(0)
    const declared = expr.result === undefined ? undefined : this.declarations.typeOf(expr.result)
    const anything = wanted === undefined || isUnknown(wanted.result)
    const resultType = declared ?? (anything ? undefined : wanted.result)
    this.#frame = {result: resultType ?? unknown, open: resultType === undefined, returned: []}
    const fallsThrough = this.#fallsThrough
    const {params, body} = this.scope.inLambda(() => {
      const bindings = expr.params.map(({name, type}, i) => {
        const given = type === undefined ? (wanted?.params[i] ?? unknown) : this.declarations.typeOf(type)
        const binding = this.scope.bind(name.text, given, name)
        this.symbols?.define(name, () => describe(binding))
        return binding
      })
      return {
        params: bindings,
        body: resultType === undefined ? this.value(expr.body) : this.check(expr.body, resultType),
      }
    })
    const {returned} = this.#frame
    this.#frame = before
    this.#fallsThrough = fallsThrough
    this.#loops.push(...loops)
    this.scope.leave(mark)
    const type: Type = {
      kind: 'function',
      params: params.map((param) => param.type),
      result: resultType ?? returned.reduce((all, each) => join(all, each) ?? unknown, body.type),
    }
    return {kind: 'lambda', params, body, type}
  }

  #try({operand: inner, mark}: Expr & {kind: 'try'}): Ir {
    const raw = this.#infer(inner)
    const operand = raw.type.kind === 'outcome' ? this.#settled(raw, result(unknown)) : raw
    const {type} = operand
    const {result: around} = this.#frame
    if (isUnknown(type)) return {kind: 'try', operand, of: 'result', type: unknown}
    if (type.kind !== 'result' && type.kind !== 'option') {
      this.report('typecheck.try_operand', inner, `'?' applies to Result or Option, found ${show(type)}.`)
      return nothing
    }
    const family = type.kind === 'result' ? 'Result' : 'Option'
    if (around.kind !== type.kind && !(isUnknown(around) && !this.#frame.open)) {
      this.report(
        'typecheck.try_context',
        mark,
        `'?' on ${family === 'Option' ? 'an' : 'a'} ${family} needs a function that returns ${family}.`,
        {
          hints: [`Handle both cases with match, or let the function return ${family}[...].`],
        },
      )
      return nothing
    }
    if (type.kind === 'result' && around.kind === 'result' && !fits(type.error, around.error))
      this.#mismatch(inner, result(type.ok, type.error), result(type.ok, around.error))
    return {kind: 'try', operand, of: type.kind, type: type.kind === 'result' ? type.ok : type.of}
  }

  // Operators

  #unary({operator, operand: inner}: Expr & {kind: 'unary'}): Ir {
    if (operator === 'not') {
      const operand = this.value(inner)
      if (!fits(operand.type, bool))
        this.report('typecheck.operator', inner, `Operator 'not' does not apply to ${show(operand.type)}.`)
      return {kind: 'not', operand, type: bool}
    }
    const operand = this.value(inner)
    const {type} = operand
    if (!isNumber(type) && type.kind !== 'dec' && !isUnknown(type))
      this.report('typecheck.operator', inner, `Operator '-' does not apply to ${show(type)}.`)
    if (operand.kind === 'const' && typeof operand.value === 'number') return {...operand, value: -operand.value}
    return {kind: 'negate', operand, type: type.kind === 'id' ? int : type}
  }

  #binary(expr: BinaryExpr): Ir {
    const {operator, left, right} = expr
    switch (operator) {
      case '|>':
        return this.#pipe(left, right)
      case 'with':
        this.report('parse.unsupported_operator', right, "'with' has no effect in the data language.")
        return this.value(left)
      case 'and':
      case 'or':
        return {kind: operator, left: this.#operand(left, operator), right: this.#operand(right, operator), type: bool}
      case 'is':
      case 'isnt':
        return this.#equality(expr, operator)
      case '<':
      case '>':
      case '<=':
      case '>=':
        return this.#order(expr, operator)
      default:
        return this.#arithmetic(expr)
    }
  }

  #operand(expr: Expr, operator: string): Ir {
    const ir = this.value(expr)
    if (!fits(ir.type, bool))
      this.report('typecheck.operator', expr, `Operator '${operator}' does not apply to ${show(ir.type)}.`)
    return ir
  }

  /** `x |> f(y)` is `f(x, y)`. */
  #pipe(left: Expr, right: Expr): Ir {
    const arg: Arg = {name: undefined, value: left, start: left.start, end: left.end}
    const callee = right.kind === 'call' ? right.callee : right
    const args = right.kind === 'call' ? [arg, ...right.args] : [arg]
    return this.#call({kind: 'call', callee, args, depth: right.depth, start: left.start, end: right.end}, undefined)
  }

  #equality(expr: BinaryExpr, operator: Comparison): Ir {
    const left = this.value(expr.left)
    const right = this.value(expr.right, left.type)
    if (!fits(left.type, right.type, 'slot') && !fits(right.type, left.type, 'slot'))
      this.report(
        'typecheck.operator',
        expr,
        `Operator '${operator}' cannot compare ${show(left.type)} with ${show(right.type)}.`,
      )
    return {kind: 'compare', operator, mode: isDec(left, right) ? 'dec' : 'plain', left, right, type: bool}
  }

  #order(expr: BinaryExpr, operator: Comparison): Ir {
    const left = this.value(expr.left)
    const right = this.value(expr.right)
    const [a, b] = [left.type, right.type]
    const numbers = isNumber(a) && isNumber(b) && fitsEither(a, b)
    const alike = a.kind === b.kind && (a.kind === 'str' || a.kind === 'dec')
    if (!numbers && !alike && !isUnknown(a) && !isUnknown(b))
      this.report('typecheck.operator', expr, `Operator '${operator}' cannot compare ${show(a)} with ${show(b)}.`)
    return {kind: 'compare', operator, mode: isDec(left, right) ? 'dec' : 'plain', left, right, type: bool}
  }

  #arithmetic(expr: BinaryExpr): Ir {
    const left = this.value(expr.left)
    const right = this.value(expr.right)
    const operator = expr.operator as '+' | '-' | '*' | '/' | '%'
    const [a, b] = [left.type, right.type]
    if (operator === '+' && (a.kind === 'str' || b.kind === 'str')) return {kind: 'concat', left, right, type: str}
    if (isUnknown(a) || isUnknown(b)) {
      const type = isUnknown(a) ? (isUnknown(b) ? unknown : b) : a
      return {kind: 'arithmetic', operator, mode: 'unknown', left, right, type: operator === '+' ? unknown : type}
    }
    const mode: NumberMode | undefined = modeOf(a, b)
    const isDivision = operator === '/' || operator === '%'
    if (mode === undefined || (mode === 'dec' && isDivision)) {
      this.report('typecheck.operator', expr, `Operator '${operator}' does not apply to ${show(a)} and ${show(b)}.`)
      return nothing
    }
    return {
      kind: 'arithmetic',
      operator,
      mode,
      left,
      right,
      type: mode === 'int' ? int : mode === 'float' ? float : dec,
    }
  }

  // Members, indexes, calls

  #member(expr: MemberExpr): Ir {
    const whole = this.#namespace(expr)
    if (whole !== undefined) {
      this.#unknownMember(expr, whole)
      return nothing
    }
    const object = this.value(expr.object)
    const {type} = object
    const {member} = expr
    switch (type.kind) {
      case 'row':
        return this.#column(object, type, member)
      case 'record':
        return this.#field(object, type.record.name, type.record.fields, member)
      case 'object': {
        const fields = [...type.fields].map(([name, field]): FieldType => ({name, type: field, span: member}))
        return this.#field(object, 'The object', fields, member)
      }
      case 'unknown':
      case 'never':
        return {kind: 'field', object, name: member.text, of: 'unknown', type: unknown}
      default:
        this.report(
          'typecheck.unknown_field',
          member,
          `${show(type)} has no field '${member.text}'.`,
          memberHint(type, member.text),
        )
        return nothing
    }
  }

  #column(object: Ir, {table, selected}: Type & {kind: 'row'}, member: Name): Ir {
    const fields = [table.id, ...table.columns]
    const ir = this.#field(object, table.name, fields, member, 'row')
    if (selected !== undefined && ir !== nothing && !selected.has(member.text))
      this.report('typecheck.column_not_selected', member, `Column '${member.text}' is not among those selected.`, {
        hints: [`Selected are ${[...selected].join(', ')}.`],
      })
    return ir
  }

  #field(object: Ir, of: string, fields: readonly FieldType[], member: Name, kind: 'row' | 'record' = 'record'): Ir {
    const field = fields.find(({name}) => name === member.text)
    if (field === undefined) {
      this.#unknownField(member, of, fields)
      return nothing
    }
    this.symbols?.use(member, field.span, () => `${of}.${field.name}: ${show(field.type)}`)
    return {kind: 'field', object, name: member.text, of: kind, type: field.type}
  }

  #index({object: inner, index: at}: Expr & {kind: 'index'}): Ir {
    const object = this.value(inner)
    const {type} = object
    switch (type.kind) {
      case 'list':
      case 'set':
        return {kind: 'index', object, index: this.check(at, int), of: 'list', type: type.of}
      case 'str':
        return {kind: 'index', object, index: this.check(at, int), of: 'str', type: str}
      case 'map':
        return {kind: 'index', object, index: this.check(at, str), of: 'map', type: type.of}
      case 'tuple': {
        const index = this.check(at, int)
        const item = index.kind === 'const' && typeof index.value === 'number' ? type.items.at(index.value) : unknown
        return {kind: 'index', object, index, of: 'list', type: item ?? unknown}
      }
      case 'unknown':
      case 'never':
        return {kind: 'index', object, index: this.value(at), of: 'unknown', type: unknown}
      default:
        this.report('typecheck.not_indexable', inner, `A ${show(type)} has no elements to index.`)
        this.value(at)
        return nothing
    }
  }

  #call(expr: CallExpr, expected: Type | undefined): Ir {
    const {callee, args} = expr
    if (callee.kind === 'member') return this.#methodCall(expr, callee)
    if (callee.kind === 'name' && this.scope.find(callee.name.text) === undefined) {
      const {name} = callee
      const target = this.declarations.functions.get(name.text)
      if (target !== undefined) return this.#functionCall(expr, target, name)
      const constructed = this.#construction(name, args, expected, expr)
      if (constructed !== undefined) return constructed
      const builtin = Object.hasOwn(functions, name.text) ? functions[name.text] : undefined
      if (builtin !== undefined) return this.#builtinCall(name.text, builtin, expr)
    }
    const called = this.value(callee)
    if (called.type.kind === 'function') return this.#apply(called, called.type, expr)
    if (!isUnknown(called.type))
      this.report('typecheck.not_callable', callee, `A ${show(called.type)} cannot be called.`)
    return {kind: 'apply', callee: called, args: args.map(({value}) => this.value(value)), type: unknown}
  }

  #callTo(target: FunctionType, name: Name): void {
    this.#function.calls.push({target, span: name})
    this.symbols?.use(name, target.span, () => signature(target), target.decl.doc)
  }

  #functionCall(expr: CallExpr, target: FunctionType, name: Name): Ir {
    this.#callTo(target, name)
    const {params} = target
    const given: (Ir | undefined)[] = params.map(() => undefined)
    let position = 0
    const unnamed = expr.args.filter((arg) => arg.name === undefined).length
    for (const arg of expr.args) {
      const at = arg.name === undefined ? position++ : params.findIndex((param) => param.name === arg.name?.text)
      const param = params[at]
      if (param === undefined) {
        if (arg.name !== undefined) {
          const suggestion = near(
            arg.name.text,
            params.map((each) => each.name),
          )
          this.report(
            'typecheck.arg_name',
            arg.name,
            `'${target.name}' has no parameter '${arg.name.text}'.${didYouMean(suggestion)}`,
            fixName(arg.name, suggestion),
          )
        }
        this.value(arg.value)
        continue
      }
      if (given[at] !== undefined)
        this.report('typecheck.arg_name', arg.name ?? arg.value, `Parameter '${param.name}' is given twice.`)
      given[at] = this.check(arg.value, param.type, 'exact', 'typecheck.arg_mismatch')
    }
    const lacking = params.filter((param, i) => given[i] === undefined && !param.optional)
    if (lacking.length > 0 || unnamed > params.length) {
      const least = params.filter((param) => !param.optional).length
      const takes = least === params.length ? `${least}` : `${least} to ${params.length}`
      this.report('typecheck.arg_count', expr, `Expected ${takes} argument(s), found ${expr.args.length}.`, {
        related: [{...target.span, message: `'${target.name}' is declared`}],
      })
    }
    return {kind: 'call', target, args: given, type: target.result}
  }

  #apply(callee: Ir, type: Type & {kind: 'function'}, expr: CallExpr): Ir {
    if (expr.args.length !== type.params.length)
      this.report('typecheck.arg_count', expr, `Expected ${type.params.length} argument(s), found ${expr.args.length}.`)
    const args = expr.args.map(({value}, i) =>
      this.check(value, type.params[i] ?? unknown, 'exact', 'typecheck.arg_mismatch'),
    )
    return {kind: 'apply', callee, args, type: type.result}
  }

  #args(given: readonly Arg[], {params, optional = 0}: Signature, span: Span, name: string): Ir[] {
    const named = given.find((arg) => arg.name !== undefined)
    if (named?.name !== undefined) this.report('typecheck.arg_name', named.name, `${name}() takes no named arguments.`)
    const least = params.length - optional
    if (given.length < least || given.length > params.length) {
      const takes = optional === 0 ? `${least}` : `${least} to ${params.length}`
      this.report('typecheck.arg_count', span, `${name}() takes ${takes} argument(s), found ${given.length}.`)
    }
    return given.map(({value}, i) => {
      const param = params[i]
      return param === undefined ? this.value(value) : this.check(value, param, 'exact', 'typecheck.arg_mismatch')
    })
  }

  #builtinCall(name: string, builtin: Signature, expr: CallExpr): Ir {
    const args = this.#args(expr.args, builtin, expr, name)
    const [first] = args
    if (name === 'len' && first !== undefined && !hasLength(first.type))
      this.#mismatchOf(expr.args[0]?.value, first.type, 'a list, a map or a str')
    if ((name === 'int' || name === 'float') && first !== undefined && !isConvertible(first.type))
      this.#mismatchOf(expr.args[0]?.value, first.type, 'a number or a str')
    return {
      kind: 'builtin',
      name,
      args,
      ...(name === 'assert' ? {span: {start: expr.start, end: expr.end}} : {}),
      type: typeof builtin.result === 'function' ? builtin.result(args) : builtin.result,
    }
  }

  #mismatchOf(expr: Expr | undefined, found: Type, expected: string): void {
    if (expr !== undefined)
      this.report('typecheck.arg_mismatch', expr, `Expected ${expected}, found ${show(found)}.`, {
        foundType: show(found),
      })
  }

  /** `Some`, `Ok`, `Error` and variants with fields. */
  #construction(name: Name, args: readonly Arg[], expected: Type | undefined, expr: CallExpr): Ir | undefined {
    const {text} = name
    if (text === 'Some' || text === 'Ok' || text === 'Error' || text === 'Err')
      return this.#wrap(text, args, expected, expr)
    const found = this.#variant(text, expected)
    if (found === undefined) return undefined
    this.symbols?.use(name, found.variant.span, () => `${found.sum.name}.${text}`)
    return this.#construct(expr, found, args)
  }

  #wrap(name: 'Some' | 'Ok' | 'Error' | 'Err', args: readonly Arg[], expected: Type | undefined, expr: CallExpr): Ir {
    const isOk = name === 'Ok'
    const [only] = args
    if (args.length !== 1 && !(isOk && args.length === 0))
      this.report('typecheck.arg_count', expr, `${name}() takes 1 argument(s), found ${args.length}.`)
    const inner =
      name === 'Some'
        ? expected?.kind === 'option'
          ? expected.of
          : undefined
        : expected?.kind === 'result'
          ? isOk
            ? expected.ok
            : expected.error
          : undefined
    const value: Ir =
      only === undefined
        ? {kind: 'const', value: undefined, type: unit}
        : inner === undefined
          ? this.value(only.value)
          : this.check(only.value, inner, 'slot')
    const type = inner ?? value.type
    if (name === 'Some') return {kind: 'some', value, type: option(type)}
    if (isOk) return {kind: 'ok', value, type: result(type, unknown)}
    return {kind: 'error', value, type: result(unknown, type)}
  }

  #construct(span: Span, {sum, variant}: {sum: SumType; variant: VariantType}, args: readonly Arg[]): Ir {
    const {fields} = variant
    const given: [string, Ir][] = []
    for (const [i, arg] of args.entries()) {
      const field = arg.name === undefined ? fields[i] : fields.find(({name}) => name === arg.name?.text)
      if (field === undefined) {
        if (arg.name !== undefined)
          this.report('typecheck.arg_name', arg.name, `${variant.name} has no field '${arg.name.text}'.`)
        this.value(arg.value)
      } else given.push([field.name, this.check(arg.value, field.type, 'slot', 'typecheck.arg_mismatch')])
    }
    const lacking = fields.filter(({name, type}) => type.kind !== 'option' && !given.some(([one]) => one === name))
    if (lacking.length > 0 || args.length > fields.length)
      this.report(
        'typecheck.arg_count',
        span,
        `${variant.name} takes ${fields.length} argument(s), found ${args.length}.`,
        {related: [{...variant.span, message: `${variant.name} is declared`}]},
      )
    return {kind: 'variant', variant, sum, args: given, type: {kind: 'sum', sum}}
  }

  #methodCall(expr: CallExpr, callee: MemberExpr): Ir {
    const whole = this.#namespace(callee)
    if (whole !== undefined) return this.#namespaceCall(expr, callee, whole)
    const raw = this.#infer(callee.object)
    const {member} = callee
    const object = this.#receiver(raw, member.text)
    const family = familyOf(object.type)
    if (family === undefined) {
      if (object.type.kind === 'object' || object.type.kind === 'record') {
        const field = this.#member(callee)
        if (field.type.kind === 'function') return this.#apply(field, field.type, expr)
        return nothing
      }
      if (!isUnknown(object.type))
        this.report('typecheck.unknown_method', member, `${show(object.type)} has no method '${member.text}'.`)
      return {
        kind: 'method',
        family,
        name: member.text,
        object,
        args: expr.args.map(({value}) => this.value(value)),
        type: unknown,
      }
    }
    const found = Object.hasOwn(methods[family], member.text) ? methods[family][member.text] : undefined
    if (found === undefined) {
      const suggestion = near(member.text, Object.keys(methods[family]))
      this.report(
        'typecheck.unknown_method',
        member,
        `${show(object.type)} has no method '${member.text}'.${didYouMean(suggestion)}`,
        {
          hints: [`Methods: ${Object.keys(methods[family]).join(', ')}`],
          ...fixName(member, suggestion),
        },
      )
      for (const {value} of expr.args) if (value.kind !== 'lambda') this.value(value)
      return nothing
    }
    const taken = found(object.type)
    this.symbols?.use(member, undefined, () => `${show(object.type)}.${member.text}`)
    const args = this.#args(expr.args, taken, member, member.text)
    return {
      kind: 'method',
      family,
      name: member.text,
      object,
      args,
      type: typeof taken.result === 'function' ? taken.result(args) : taken.result,
    }
  }

  /** `.is_ok()`, `.is_err()` and `.unwrap()` ask the outcome of an operation itself. */
  #receiver(raw: Ir, name: string): Ir {
    if (raw.type.kind !== 'outcome') return raw
    const asks = name === 'is_ok' || name === 'is_err' || (name === 'unwrap' && raw.type.of.kind !== 'option')
    return asks ? this.#settled(raw, result(unknown)) : plain(raw)
  }

  /** The whole name of `std.time.now_ms` and the like; undefined for anything else. */
  #namespace(expr: MemberExpr): string | undefined {
    const names: string[] = []
    let at: Expr = expr
    while (at.kind === 'member') {
      names.push(at.member.text)
      at = at.object
    }
    if (at.kind !== 'name' || !namespaces.has(at.name.text) || this.scope.find(at.name.text) !== undefined)
      return undefined
    return [at.name.text, ...names.reverse()].join('.')
  }

  #namespaceCall(expr: CallExpr, callee: MemberExpr, name: string): Ir {
    const found = Object.hasOwn(namespaced, name) ? namespaced[name] : undefined
    if (found === undefined) {
      this.#unknownMember(callee, name)
      for (const {value} of expr.args) this.value(value)
      return nothing
    }
    this.symbols?.use(callee.member, undefined, () => name)
    if (name === 'Speech.transcribe')
      this.effects.push({kind: 'speech', what: `${name}()`, table: undefined, span: callee})
    const args = this.#args(expr.args, found, callee.member, name)
    return {kind: 'builtin', name, args, type: typeof found.result === 'function' ? found.result(args) : found.result}
  }

  #unknownMember({member}: MemberExpr, name: string): void {
    const suggestion = near(name, Object.keys(namespaced))
    this.report('typecheck.undefined', member, `Undefined name '${name}'.${didYouMean(suggestion)}`)
  }
}

const plain = (ir: Ir): Ir =>
  ir.type.kind === 'outcome' ? {kind: 'settle', how: 'plain', value: ir, type: ir.type.of} : ir

const plainType = (type: Type): Type => (type.kind === 'outcome' ? type.of : type)

const unknownUnless = (expected: Type): Type =>
  expected.kind === 'unit' || expected.kind === 'ignored' ? unit : unknown

const isDec = (left: Ir, right: Ir) => left.type.kind === 'dec' && right.type.kind === 'dec'

/** Two numbers of which neither is the id of another table than the other. */
const fitsEither = (a: Type, b: Type) => fits(a, b) || fits(b, a) || a.kind === 'float' || b.kind === 'float'

const modeOf = (a: Type, b: Type): NumberMode | undefined => {
  if (a.kind === 'dec' && b.kind === 'dec') return 'dec'
  if (!isNumber(a) || !isNumber(b)) return undefined
  return a.kind === 'float' || b.kind === 'float' ? 'float' : 'int'
}

const hasLength = (type: Type) => ['list', 'set', 'map', 'str', 'unknown', 'never', 'json', 'tuple'].includes(type.kind)
const isConvertible = (type: Type) =>
  isNumber(type) || ['str', 'dec', 'bool', 'unknown', 'never', 'json'].includes(type.kind)

const describe = ({name, type, mutable}: Binding): string => `${mutable ? 'let mut ' : ''}${name}: ${show(type)}`

const memberHint = (type: Type, name: string): DiagnosticDetails => {
  const family = familyOf(type)
  if (family !== undefined && Object.hasOwn(methods[family], name)) return {hints: [`Call it: .${name}(...)`]}
  if (type.kind === 'option') return {hints: ['The value may be absent: use match, unwrap_or or ?.']}
  if (type.kind === 'sum') return {hints: ['The fields of a variant are read by match.']}
  return {}
}

function hintFor(found: Type, expected: Type): string | undefined {
  if (found.kind === 'option' && fits(found.of, expected)) return 'The value may be absent: use match, unwrap_or or ?.'
  if (expected.kind === 'option' && fits(found, expected.of)) return 'Wrap it: Some(...).'
  if (expected.kind === 'result' && fits(found, expected.ok)) return 'Wrap it: Ok(...).'
  if (expected.kind === 'str' && isNumber(found)) return 'Convert it with str(...).'
  if (expected.kind === 'int' && (found.kind === 'float' || found.kind === 'str')) return 'Convert it with int(...).'
  return undefined
}
