import type {Arithmetic, Binding, Comparison, FunctionType, Ir, IrPattern, IrStmt, NumberMode} from '../check/index.js'
import {planChain} from '../plan/index.js'
import type {Context} from './context.js'
import {calculateDecimals, compareDecimals} from './decimal.js'
import {DatabaseFailure, Failure} from './failure.js'
import {builtins, callableOf, elementOf, familyOfValue, methodOf, sized} from './methods.js'
import {type Operation, operation} from './operation.js'
import {type Callable, display, Err, equal, isObject, Ok, type Value} from './value.js'

/** A call that runs: its variables, and what it returns once it does. */
interface Frame {
  slots: Value[]
  result: Value
  readonly context: Context
}

type Eval = (frame: Frame) => Value

/** How a statement ended. */
const normal = 0
const broke = 1
const continued = 2
const returned = 3
type Completion = typeof normal | typeof broke | typeof continued | typeof returned
type Exec = (frame: Frame) => Completion

/** A `return`, `break` or `continue` from inside an expression: thrown, and caught where it leads. */
class Jump {
  readonly completion: Completion
  constructor(completion: Completion) {
    this.completion = completion
  }
}
const jumps = [undefined, new Jump(broke), new Jump(continued), new Jump(returned)] as const

/** A mutable variable that a lambda sees. */
interface Cell {
  value: Value
}

export type Handler = (context: Context, args: readonly Value[]) => Value

/**
 * Turns the checked tree into closures: each node becomes a function that was chosen once, so that running a program
 * looks nothing up.
 */
export class Compiler {
  readonly #topics: ReadonlyMap<string, readonly string[]>
  readonly #compiled = new Map<FunctionType, Handler>()

  constructor(topics: ReadonlyMap<string, readonly string[]>) {
    this.#topics = topics
  }

  /** The handler of a function; arguments in the order of its parameters, undefined where the default counts. */
  handler(target: FunctionType): Handler {
    const known = this.#compiled.get(target)
    if (known !== undefined) return known
    let body: Handler | undefined
    // Made when it is first called, since functions call each other in circles.
    const handler: Handler = (context, args) => {
      body ??= this.#function(target)
      return body(context, args)
    }
    this.#compiled.set(target, handler)
    return handler
  }

  #function(target: FunctionType): Handler {
    const exec = this.#tail(target.body as Ir)
    const {slots: count, params} = target
    const store = params.map(({binding}) => initial(binding))
    const fallbacks = params.map(({fallback}) => (fallback === undefined ? undefined : this.#eval(fallback)))
    const returnsNothing = target.result.kind === 'unit'
    return (context, args) => {
      context.enter()
      const frame: Frame = {slots: new Array(count), result: undefined, context}
      for (let i = 0; i < store.length; i++) {
        const given = i < args.length ? args[i] : undefined
        const fallback = fallbacks[i]
        const value = given === undefined && fallback !== undefined ? fallback(frame) : given
        ;(store[i] as (frame: Frame, value: Value) => void)(frame, value)
      }
      try {
        exec(frame)
      } catch (thrown) {
        if (thrown !== jumps[returned]) throw thrown
      } finally {
        context.leave()
      }
      return returnsNothing ? undefined : frame.result
    }
  }

  // Statements

  /** Code in the last place of a function: its value is what the function returns. */
  #tail(ir: Ir): Exec {
    switch (ir.kind) {
      case 'block': {
        const last = ir.statements.at(-1)
        if (last?.kind !== 'expr') return this.#sequence(ir.statements.map((stmt) => this.#exec(stmt)))
        return this.#sequence([...ir.statements.slice(0, -1).map((stmt) => this.#exec(stmt)), this.#tail(last.value)])
      }
      case 'if': {
        const condition = this.#eval(ir.condition)
        const consequent = this.#tail(ir.consequent)
        const otherwise = ir.otherwise === undefined ? undefined : this.#tail(ir.otherwise)
        return (frame) => (condition(frame) ? consequent(frame) : otherwise === undefined ? normal : otherwise(frame))
      }
      case 'match':
        return this.#match(ir, (body) => (body.kind === 'expr' ? this.#tail(body.value) : this.#exec(body)))
      default: {
        const evaluate = this.#eval(ir)
        return (frame) => {
          frame.result = evaluate(frame)
          return returned
        }
      }
    }
  }

  #sequence(steps: readonly Exec[]): Exec {
    const [first, second] = steps
    if (steps.length === 1 && first !== undefined) return first
    if (steps.length === 2 && first !== undefined && second !== undefined)
      return (frame) => {
        const completion = first(frame)
        return completion === normal ? second(frame) : completion
      }
    return (frame) => {
      for (const step of steps) {
        const completion = step(frame)
        if (completion !== normal) return completion
      }
      return normal
    }
  }

  #exec(stmt: IrStmt): Exec {
    switch (stmt.kind) {
      case 'let': {
        const value = this.#eval(stmt.value)
        const bind = this.#pattern(stmt.pattern)
        return (frame) => {
          if (!bind(frame, value(frame))) throw new Failure('UNWRAP', 'the value does not fit the pattern')
          return normal
        }
      }
      case 'assign': {
        const value = this.#eval(stmt.value)
        const {slot, boxed} = stmt.binding
        return (frame) => {
          const assigned = value(frame)
          if (boxed) (frame.slots[slot] as Cell).value = assigned
          else frame.slots[slot] = assigned
          return normal
        }
      }
      case 'return': {
        const value = stmt.value === undefined ? undefined : this.#eval(stmt.value)
        return (frame) => {
          frame.result = value?.(frame)
          return returned
        }
      }
      case 'while': {
        const condition = this.#eval(stmt.condition)
        return loop(condition, this.#effect(stmt.body))
      }
      case 'loop':
        return loop(() => true, this.#effect(stmt.body))
      case 'break':
        return () => broke
      case 'continue':
        return () => continued
      case 'expr':
        return this.#effect(stmt.value)
    }
  }

  /** An expression of which only the effects matter: control passes through it without being thrown. */
  #effect(ir: Ir): Exec {
    switch (ir.kind) {
      case 'block':
        return this.#sequence(ir.statements.map((stmt) => this.#exec(stmt)))
      case 'if': {
        const condition = this.#eval(ir.condition)
        const consequent = this.#effect(ir.consequent)
        const otherwise = ir.otherwise === undefined ? undefined : this.#effect(ir.otherwise)
        return (frame) => (condition(frame) ? consequent(frame) : otherwise === undefined ? normal : otherwise(frame))
      }
      case 'match':
        return this.#match(ir, (body) => this.#exec(body))
      case 'for':
        return this.#for(ir)
      default: {
        const evaluate = this.#eval(ir)
        return (frame) => {
          evaluate(frame)
          return normal
        }
      }
    }
  }

  #for({item, index, list, body}: Ir & {kind: 'for'}): Exec {
    const values = this.#eval(list)
    const run = this.#effect(body)
    const storeItem = item === undefined ? undefined : initial(item)
    const storeIndex = index === undefined ? undefined : initial(index)
    return (frame) => {
      for (const [key, value] of pairs(values(frame))) {
        frame.context.step()
        storeItem?.(frame, value)
        storeIndex?.(frame, key)
        const completion = turn(run, frame)
        if (completion === broke) return normal
        if (completion === returned) return returned
      }
      return normal
    }
  }

  #match({subject, arms}: Ir & {kind: 'match'}, compileBody: (body: IrStmt) => Exec): Exec {
    const evaluate = this.#eval(subject)
    const compiled = arms.map(({pattern, guard, body}) => ({
      fits: this.#pattern(pattern),
      guard: guard === undefined ? undefined : this.#eval(guard),
      body: compileBody(body),
    }))
    return (frame) => {
      const value = evaluate(frame)
      for (const {fits, guard, body} of compiled)
        if (fits(frame, value) && (guard === undefined || guard(frame) === true)) return body(frame)
      throw new Failure('UNWRAP', 'no arm of the match fits')
    }
  }

  /** Whether a value fits a pattern; binds its names. */
  #pattern(pattern: IrPattern): (frame: Frame, value: Value) => boolean {
    switch (pattern.kind) {
      case 'any':
        return () => true
      case 'bind': {
        const store = initial(pattern.binding)
        return (frame, value) => {
          store(frame, value)
          return true
        }
      }
      case 'literal':
        return (_, value) => value === pattern.value
      case 'none':
        return (_, value) => value === null
      case 'some': {
        const inner = this.#pattern(pattern.of)
        return (frame, value) => value !== null && inner(frame, value)
      }
      case 'ok':
      case 'error': {
        const inner = this.#pattern(pattern.of)
        const wanted = pattern.kind === 'ok' ? Ok : Err
        return (frame, value) => value instanceof wanted && inner(frame, (value as Ok).value)
      }
      case 'variant': {
        const fields = pattern.fields.map(([name, field]) => [name, this.#pattern(field)] as const)
        return (frame, value) =>
          isObject(value) &&
          value._tag === pattern.tag &&
          fields.every(([name, fits]) => fits(frame, value[name] ?? null))
      }
      case 'tuple': {
        const items = pattern.items.map((item) => this.#pattern(item))
        return (frame, value) => Array.isArray(value) && items.every((fits, i) => fits(frame, value[i]))
      }
    }
  }

  // Expressions

  #eval(ir: Ir): Eval {
    switch (ir.kind) {
      case 'const': {
        const {value} = ir
        return () => value
      }
      case 'local': {
        const {slot, boxed} = ir.binding
        return boxed ? (frame) => (frame.slots[slot] as Cell).value : (frame) => frame.slots[slot]
      }
      case 'function': {
        const handler = this.handler(ir.target)
        return ({context}): Callable =>
          (args) =>
            handler(context, args)
      }
      case 'list':
      case 'tuple': {
        const items = ir.items.map((item) => this.#eval(item))
        return (frame) => items.map((item) => item(frame))
      }
      case 'object':
        return this.#object(ir.entries)
      case 'map': {
        const entries = ir.entries.map(([key, value]) => [key, this.#eval(value)] as const)
        return (frame) => new Map(entries.map(([key, value]) => [key, value(frame)]))
      }
      case 'variant':
        return this.#object(ir.args, ir.variant.name)
      case 'some':
        return this.#eval(ir.value)
      case 'ok': {
        const value = this.#eval(ir.value)
        return (frame) => new Ok(value(frame))
      }
      case 'error': {
        const value = this.#eval(ir.value)
        return (frame) => new Err(value(frame))
      }
      case 'not': {
        const operand = this.#eval(ir.operand)
        return (frame) => !operand(frame)
      }
      case 'negate': {
        const operand = this.#eval(ir.operand)
        return ir.type.kind === 'dec'
          ? (frame) => calculateDecimals('0', '-', operand(frame) as string)
          : (frame) => -(operand(frame) as number) + 0
      }
      case 'and': {
        const [left, right] = [this.#eval(ir.left), this.#eval(ir.right)]
        return (frame) => left(frame) === true && right(frame)
      }
      case 'or': {
        const [left, right] = [this.#eval(ir.left), this.#eval(ir.right)]
        return (frame) => left(frame) === true || right(frame)
      }
      case 'arithmetic': {
        const [left, right] = [this.#eval(ir.left), this.#eval(ir.right)]
        const calculate = arithmetic(ir.operator, ir.mode)
        return (frame) => calculate(left(frame), right(frame))
      }
      case 'concat': {
        const [left, right] = [this.#eval(ir.left), this.#eval(ir.right)]
        return (frame) => sized(display(left(frame)) + display(right(frame)))
      }
      case 'compare': {
        const [left, right] = [this.#eval(ir.left), this.#eval(ir.right)]
        const compare = comparison(ir.operator, ir.mode)
        return (frame) => compare(left(frame), right(frame))
      }
      case 'if':
        return this.#if(ir)
      case 'match':
      case 'for':
      case 'block':
        return this.#valueOf(ir)
      case 'lambda':
        return this.#lambda(ir)
      case 'call':
        return this.#call(ir)
      case 'apply': {
        const callee = this.#eval(ir.callee)
        const args = ir.args.map((arg) => this.#eval(arg))
        return (frame) => {
          frame.context.step()
          return callableOf(callee(frame))(args.map((arg) => arg(frame)))
        }
      }
      case 'builtin': {
        if (ir.name === 'assert') return this.#assert(ir)
        const args = ir.args.map((arg) => this.#eval(arg))
        const run = builtins[ir.name] as (args: readonly Value[], context: Context) => Value
        return (frame) =>
          run(
            args.map((arg) => arg(frame)),
            frame.context,
          )
      }
      case 'method':
        return this.#method(ir)
      case 'field':
        return this.#field(ir)
      case 'index': {
        const [object, index] = [this.#eval(ir.object), this.#eval(ir.index)]
        return (frame) => elementOf(object(frame), index(frame))
      }
      case 'try':
        return this.#try(ir)
      case 'settle':
        return this.#settle(ir)
      case 'db': {
        const run = this.#operation(ir)
        // Kept as an outcome: each later use decides.
        return (frame) => attempt(run, frame)
      }
    }
  }

  #object(entries: readonly (readonly [string, Ir])[], tag?: string): Eval {
    const fields = entries.map(([name, value]) => [name, this.#eval(value)] as const)
    return (frame) => {
      const object: Record<string, Value> = tag === undefined ? {} : {_tag: tag}
      for (const [name, value] of fields) object[name] = value(frame)
      return object
    }
  }

  #if({condition: test, consequent: first, otherwise: second}: Ir & {kind: 'if'}): Eval {
    const condition = this.#eval(test)
    const consequent = this.#eval(first)
    const otherwise = second === undefined ? undefined : this.#eval(second)
    return (frame) => (condition(frame) ? consequent(frame) : otherwise?.(frame))
  }

  /** A construct as a value: `return` and `break` inside of it leave by a jump. */
  #valueOf(ir: Ir): Eval {
    const exec = this.#inner(ir)
    return (frame) => {
      const before = frame.result
      frame.result = undefined
      const completion = exec(frame)
      if (completion === valueReady || completion === normal) {
        const value = frame.result
        frame.result = before
        return value
      }
      throw jumps[completion as Completion]
    }
  }

  /** As `#tail`, but what is in the last place becomes the value of the construct. */
  #inner(ir: Ir): (frame: Frame) => Completion | typeof valueReady {
    switch (ir.kind) {
      case 'block': {
        const last = ir.statements.at(-1)
        const body = (last?.kind === 'expr' ? ir.statements.slice(0, -1) : ir.statements).map((stmt) =>
          this.#exec(stmt),
        )
        const before = this.#sequence(body)
        if (last?.kind !== 'expr') return before
        const value = this.#eval(last.value)
        return (frame) => {
          const completion = before(frame)
          if (completion !== normal) return completion
          frame.result = value(frame)
          return valueReady
        }
      }
      case 'match':
        return this.#match(ir, (body) => {
          if (body.kind !== 'expr') return this.#exec(body)
          const value = this.#eval(body.value)
          return (frame) => {
            frame.result = value(frame)
            return valueReady as never
          }
        })
      default:
        return this.#effect(ir)
    }
  }

  #lambda({params, body}: Ir & {kind: 'lambda'}): Eval {
    const stores = params.map(initial)
    const evaluate = this.#tail(body)
    return ({slots, context}): Callable => {
      const captured = slots.slice()
      return (args) => {
        const frame: Frame = {slots: captured.slice(), result: undefined, context}
        for (let i = 0; i < stores.length; i++) stores[i]?.(frame, args[i])
        context.enter()
        try {
          evaluate(frame)
        } catch (thrown) {
          if (thrown !== jumps[returned]) throw thrown
        } finally {
          context.leave()
        }
        return frame.result
      }
    }
  }

  #call({target, args: given}: Ir & {kind: 'call'}): Eval {
    const handler = this.handler(target)
    const args = given.map((arg) => (arg === undefined ? undefined : this.#eval(arg)))
    return (frame) =>
      handler(
        frame.context,
        args.map((arg) => arg?.(frame)),
      )
  }

  /** Says what was compared, which the condition alone does not tell. */
  #assert({args: [condition, message], span}: Ir & {kind: 'builtin'}): Eval {
    const said = message === undefined ? () => undefined : this.#eval(message)
    const fault = condition?.kind === 'compare' ? this.#compared(condition) : this.#held(condition)
    return (frame) => {
      const found = fault(frame)
      if (found === undefined) return undefined
      const text = said(frame)
      const parts = [typeof text === 'string' ? text : 'assertion failed', found].filter((part) => part !== '')
      throw new Failure('ASSERTION_FAILED', parts.join(': '), {span})
    }
  }

  /** What does not hold, with the values; undefined where it does. */
  #compared({left, right, operator, mode}: Ir & {kind: 'compare'}): (frame: Frame) => string | undefined {
    const [first, second] = [this.#eval(left), this.#eval(right)]
    const compare = comparison(operator, mode)
    return (frame) => {
      const [a, b] = [first(frame), second(frame)]
      return compare(a, b) ? undefined : `${asWritten(a)} ${operator} ${asWritten(b)}`
    }
  }

  #held(condition: Ir | undefined): (frame: Frame) => string | undefined {
    const holds = condition === undefined ? () => false : this.#eval(condition)
    return (frame) => (holds(frame) === true ? undefined : '')
  }

  #method({family, name, object: receiver, args: given}: Ir & {kind: 'method'}): Eval {
    const object = this.#eval(receiver)
    const args = given.map((arg) => this.#eval(arg))
    const known = family === undefined ? undefined : methodOf(family, name)
    return (frame) => {
      const self = object(frame)
      const method = known ?? methodOf(familyOfValue(self), name)
      if (method === undefined) throw new Failure('CONVERSION', `the value has no method '${name}'`)
      return method(
        self as never,
        args.map((arg) => arg(frame)),
        frame.context,
      )
    }
  }

  #field({object: of, name, of: kind}: Ir & {kind: 'field'}): Eval {
    const object = this.#eval(of)
    if (kind === 'row')
      return (frame) => {
        const value = (object(frame) as Record<string, Value>)[name]
        if (value === undefined) throw new Failure('COLUMN_NOT_SELECTED', `column '${name}' was not selected`)
        return value
      }
    return (frame) => {
      const value = object(frame)
      if (!isObject(value)) throw new Failure('CONVERSION', `the value has no field '${name}'`)
      return Object.hasOwn(value, name) ? value[name] : null
    }
  }

  #try({operand: inner}: Ir & {kind: 'try'}): Eval {
    const operand = this.#eval(inner)
    return (frame) => {
      const value = operand(frame)
      if (value instanceof Ok) return value.value
      if (value !== null && !(value instanceof Err)) return value
      frame.result = value
      throw jumps[returned]
    }
  }

  #settle({how, value: inner}: Ir & {kind: 'settle'}): Eval {
    if (inner.kind === 'db' && how === 'plain') {
      const run = this.#operation(inner)
      return (frame) => run(frame, frame.context)
    }
    const outcome = this.#eval(inner)
    if (how === 'result') return outcome
    return (frame) => {
      const value = outcome(frame)
      if (value instanceof Err) throw value.failure
      return (value as Ok).value
    }
  }

  #operation({chain}: Ir & {kind: 'db'}): Operation<Frame> {
    return operation(planChain(chain), this.#topics.get(chain.table.name) ?? [], (param) => this.#eval(param.value))
  }
}

/** The construct has its value. */
const valueReady = 4

function attempt(run: Operation<Frame>, frame: Frame): Ok | Err {
  try {
    return new Ok(run(frame, frame.context))
  } catch (thrown) {
    if (thrown instanceof DatabaseFailure) return new Err(thrown.message, thrown)
    throw thrown
  }
}

/** Gives a variable its first value. */
function initial({slot, boxed}: Binding): (frame: Frame, value: Value) => void {
  return boxed
    ? ({slots}, value) => {
        slots[slot] = {value} satisfies Cell
      }
    : ({slots}, value) => {
        slots[slot] = value
      }
}

function loop(condition: Eval, body: Exec): Exec {
  return (frame) => {
    while (condition(frame) === true) {
      frame.context.step()
      const completion = turn(body, frame)
      if (completion === broke) return normal
      if (completion === returned) return returned
    }
    return normal
  }
}

/** One turn of a loop, also when it ends by a jump. */
function turn(body: Exec, frame: Frame): Completion {
  try {
    return body(frame)
  } catch (thrown) {
    if (thrown === jumps[broke] || thrown === jumps[continued]) return (thrown as Jump).completion
    throw thrown
  }
}

/** What `for` goes through: elements with their positions, keys with their values. */
function* pairs(values: Value): Generator<[Value, Value]> {
  if (values instanceof Map) for (const [key, value] of values) yield [value, key]
  else {
    const items = typeof values === 'string' ? [...values] : Array.isArray(values) ? values : undefined
    if (items === undefined) throw new Failure('CONVERSION', 'the value cannot be iterated over')
    for (let i = 0; i < items.length; i++) yield [i, items[i]]
  }
}

const safe = (value: number): number => {
  if (!Number.isSafeInteger(value)) throw new Failure('INT_OVERFLOW', 'the result is outside the range of int')
  return value
}

const nonZero = (value: number): number => {
  if (value === 0) throw new Failure('DIVISION_BY_ZERO', 'division by zero')
  return value
}

type Calculate = (a: number, b: number) => number

/** Division truncates toward zero; the remainder has the sign of the dividend. Adding 0 turns -0 into 0. */
const integerArithmetic: Readonly<Record<Arithmetic, Calculate>> = {
  '+': (a, b) => safe(a + b),
  '-': (a, b) => safe(a - b),
  '*': (a, b) => safe(a * b) + 0,
  '/': (a, b) => (a - (a % nonZero(b))) / b + 0,
  '%': (a, b) => (a % nonZero(b)) + 0,
}

const floatArithmetic: Readonly<Record<Arithmetic, Calculate>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / nonZero(b),
  '%': (a, b) => a % nonZero(b),
}

function arithmetic(operator: Arithmetic, mode: NumberMode): (a: Value, b: Value) => Value {
  switch (mode) {
    case 'int':
      return integerArithmetic[operator] as (a: Value, b: Value) => Value
    case 'float':
      return floatArithmetic[operator] as (a: Value, b: Value) => Value
    case 'dec':
      return (a, b) => calculateDecimals(a as string, operator as '+', b as string)
    case 'unknown':
      return (a, b) => {
        if (operator === '+' && (typeof a === 'string' || typeof b === 'string')) return sized(display(a) + display(b))
        if (typeof a !== 'number' || typeof b !== 'number')
          throw new Failure('CONVERSION', `'${operator}' does not apply to these values`)
        const whole = Number.isInteger(a) && Number.isInteger(b)
        return (whole ? integerArithmetic : floatArithmetic)[operator](a, b)
      }
  }
}

function comparison(operator: Comparison, mode: 'plain' | 'dec'): (a: Value, b: Value) => boolean {
  const order: (a: Value, b: Value) => number =
    mode === 'dec' ? (a, b) => compareDecimals(a as string, b as string) : compareValues
  switch (operator) {
    case 'is':
      return mode === 'dec' ? (a, b) => order(a, b) === 0 : equal
    case 'isnt':
      return mode === 'dec' ? (a, b) => order(a, b) !== 0 : (a, b) => !equal(a, b)
    case '<':
      return (a, b) => order(a, b) < 0
    case '>':
      return (a, b) => order(a, b) > 0
    case '<=':
      return (a, b) => order(a, b) <= 0
    case '>=':
      return (a, b) => order(a, b) >= 0
  }
}

/** Numbers by size, texts by code point, as SQLite orders them. */
function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string')
    return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
  throw new Failure('CONVERSION', 'the values cannot be ordered')
}

/** A value as a program would write it, no longer than a line. */
function asWritten(value: Value): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : display(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

const longestShown = 200
