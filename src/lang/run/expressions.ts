import {type Ir, type IrOf, unknown, type Visitor} from '../check/index.js'
import {callableOf} from './call.js'
import type {Context} from './context.js'
import {calculateDecimals} from './decimal.js'
import {elementOf, share} from './elements.js'
import {distinct} from './equality.js'
import {DatabaseFailure, Failure} from './failure.js'
import {type Compiling, type Eval, type Frame, jumps, loadOf, normal, returned, storeOf, valued} from './frame.js'
import {typedListMethod} from './list-methods.js'
import {builtins, familyOfValue, methodOf} from './methods.js'
import type {Operation} from './operation.js'
import {arithmetic, comparison} from './operators.js'
import {sized} from './size.js'
import {type Callable, display, Err, isObject, Ok, type Value} from './value.js'

/** Compilers for each kind of expression. */
export const expressions: Visitor<Ir, Eval, Compiling> = {
  const:
    ({value}) =>
    () =>
      value,
  local: ({binding}) => {
    const load = loadOf(binding)
    return binding.assignsElements ? (frame) => share(load(frame)) : load
  },
  function: ({target}, c) => {
    const handler = c.handler(target)
    return ({context}): Callable =>
      (args) =>
        handler(context, args)
  },
  list: compileItems,
  tuple: compileItems,
  object: ({entries}, c) => compileObject(entries, c),
  map: ({entries: entryIrs}, c) => {
    const entries = entryIrs.map(([key, value]) => [key, c.value(value)] as const)
    return (frame) => new Map(entries.map(([key, value]) => [key, value(frame)]))
  },
  variant: ({args, variant}, c) => compileObject(args, c, variant.name),
  some: ({value}, c) => c.value(value),
  ok: ({value: inner}, c) => {
    const value = c.value(inner)
    return (frame) => new Ok(value(frame))
  },
  error: ({value: inner}, c) => {
    const value = c.value(inner)
    return (frame) => new Err(value(frame))
  },
  not: ({operand: inner}, c) => {
    const operand = c.value(inner)
    return (frame) => !operand(frame)
  },
  negate: ({operand: inner, type}, c) => {
    const operand = c.value(inner)
    return type.kind === 'dec'
      ? (frame) => calculateDecimals('0', '-', operand(frame) as string)
      : (frame) => -(operand(frame) as number) + 0
  },
  and: (ir, c) => {
    const [left, right] = [c.value(ir.left), c.value(ir.right)]
    return (frame) => left(frame) === true && right(frame)
  },
  or: (ir, c) => {
    const [left, right] = [c.value(ir.left), c.value(ir.right)]
    return (frame) => left(frame) === true || right(frame)
  },
  arithmetic: (ir, c) => {
    const [left, right] = [c.value(ir.left), c.value(ir.right)]
    const calculate = arithmetic(ir.operator, ir.mode)
    return (frame) => calculate(left(frame), right(frame))
  },
  concat: (ir, c) => {
    const [left, right] = [c.value(ir.left), c.value(ir.right)]
    return (frame) => sized(display(left(frame)) + display(right(frame)))
  },
  compare: (ir, c) => {
    const [left, right] = [c.value(ir.left), c.value(ir.right)]
    const compare = comparison(ir)
    return (frame) => compare(left(frame), right(frame))
  },
  if: (ir, c) => {
    const condition = c.value(ir.condition)
    const consequent = c.value(ir.consequent)
    const otherwise = ir.otherwise === undefined ? undefined : c.value(ir.otherwise)
    return (frame) => (condition(frame) ? consequent(frame) : otherwise?.(frame))
  },
  match: compileConstruct,
  for: compileConstruct,
  block: compileConstruct,
  lambda: compileLambda,
  call: (ir, c) => {
    const handler = c.handler(ir.target)
    const args = ir.args.map((arg) => (arg === undefined ? undefined : c.value(arg)))
    return (frame) =>
      handler(
        frame.context,
        args.map((arg) => arg?.(frame)),
      )
  },
  apply: (ir, c) => {
    const callee = c.value(ir.callee)
    const args = ir.args.map((arg) => c.value(arg))
    return (frame) => {
      frame.context.step()
      return callableOf(callee(frame))(args.map((arg) => arg(frame)))
    }
  },
  builtin: compileBuiltin,
  method: compileMethod,
  field: compileField,
  index: (ir, c) => {
    const [object, index] = [borrowed(ir.object, c), c.value(ir.index)]
    return (frame) => elementOf(object(frame), index(frame))
  },
  try: ({operand: inner}, c) => {
    const operand = c.value(inner)
    return (frame) => {
      const value = operand(frame)
      if (value instanceof Ok) return value.value
      if (value !== null && !(value instanceof Err)) return value
      frame.result = value
      throw jumps[returned]
    }
  },
  settle: compileSettle,
  // The result remains an outcome; each later use resolves it.
  db: ({chain}, c) => {
    const run = c.operation(chain)
    return (frame) => attempt(run, frame)
  },
}

function compileItems(ir: IrOf<'list' | 'tuple'>, c: Compiling): Eval {
  const items = ir.items.map((item) => c.value(item))
  return (frame) => items.map((item) => item(frame))
}

function compileObject(entries: readonly (readonly [string, Ir])[], c: Compiling, tag?: string): Eval {
  const fields = entries.map(([name, value]) => [name, c.value(value)] as const)
  return (frame) => {
    const object: Record<string, Value> = tag === undefined ? {} : {_tag: tag}
    for (const [name, value] of fields) object[name] = value(frame)
    return object
  }
}

/** Compiles a construct as a value: `return` and `break` in it throw a jump. */
function compileConstruct(ir: Ir, c: Compiling): Eval {
  const exec = c.control(ir, 'value')
  return (frame) => {
    const before = frame.result
    frame.result = undefined
    const completion = exec(frame)
    if (completion !== valued && completion !== normal) throw jumps[completion]
    const value = frame.result
    frame.result = before
    return value
  }
}

function compileLambda({params, body}: IrOf<'lambda'>, c: Compiling): Eval {
  const stores = params.map(storeOf)
  const run = c.control(body, 'return')
  return ({slots, context}): Callable => {
    const captured = slots.slice()
    return (args) => {
      const frame: Frame = {slots: captured.slice(), result: undefined, context}
      for (let i = 0; i < stores.length; i++) stores[i]?.(frame, args[i])
      context.enter()
      try {
        run(frame)
      } catch (thrown) {
        if (thrown !== jumps[returned]) throw thrown
      } finally {
        context.leave()
      }
      return frame.result
    }
  }
}

function compileBuiltin(ir: IrOf<'builtin'>, c: Compiling): Eval {
  if (ir.name === 'assert') return compileAssert(ir, c)
  if (ir.name === 'as_set') return compileSet(ir, c)
  const args = ir.args.map((arg) => (ir.name === 'len' ? borrowed(arg, c) : c.value(arg)))
  const run = builtins[ir.name] as (args: readonly Value[], context: Context) => Value
  return (frame) =>
    run(
      args.map((arg) => arg(frame)),
      frame.context,
    )
}

function compileSet({args: [list], type}: IrOf<'builtin'>, c: Compiling): Eval {
  const items = c.value(list as Ir)
  const toSet = distinct('of' in type ? type.of : unknown)
  return (frame) => toSet(items(frame) as Value[])
}

/** Compiles `assert`, whose failure message includes the compared values. */
function compileAssert({args: [condition, message], span}: IrOf<'builtin'>, c: Compiling): Eval {
  const textOf = message === undefined ? () => undefined : c.value(message)
  const describeFailure =
    condition?.kind === 'compare' ? comparisonFailure(condition, c) : conditionFailure(condition, c)
  return (frame) => {
    const description = describeFailure(frame)
    if (description === undefined) return undefined
    const text = textOf(frame)
    const parts = [typeof text === 'string' ? text : 'assertion failed', description].filter((part) => part !== '')
    throw new Failure('ASSERTION_FAILED', parts.join(': '), {span})
  }
}

/** Describes a failed comparison with its values; undefined if it holds. */
type DescribeFailure = (frame: Frame) => string | undefined

function comparisonFailure(ir: IrOf<'compare'>, c: Compiling): DescribeFailure {
  const {left, right, operator} = ir
  const [first, second] = [c.value(left), c.value(right)]
  const compare = comparison(ir)
  return (frame) => {
    const [a, b] = [first(frame), second(frame)]
    return compare(a, b) ? undefined : `${asWritten(a)} ${operator} ${asWritten(b)}`
  }
}

function conditionFailure(condition: Ir | undefined, c: Compiling): DescribeFailure {
  const holds = condition === undefined ? () => false : c.value(condition)
  return (frame) => (holds(frame) === true ? undefined : '')
}

const maxShownLength = 200

/** A value as a source literal, truncated to one line. */
function asWritten(value: Value): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : display(value)
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text
}

/** Methods that return nothing that changes with their receiver. */
const borrowing: ReadonlySet<string> = new Set('len is_empty get first last contains keys values join'.split(' '))

/** Compiles an expression of which only an element or a copy is used, so that a variable does not share its value. */
const borrowed = (ir: Ir, c: Compiling): Eval => (ir.kind === 'local' ? loadOf(ir.binding) : c.value(ir))

function compileMethod({family, name, object: receiver, args: argIrs}: IrOf<'method'>, c: Compiling): Eval {
  const object = borrowing.has(name) ? borrowed(receiver, c) : c.value(receiver)
  const args = argIrs.map((arg) => c.value(arg))
  const known =
    family === 'list'
      ? typedListMethod(name, receiver.type, argIrs)
      : family === undefined
        ? undefined
        : methodOf(family, name)
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

function compileField({object: of, name, of: kind}: IrOf<'field'>, c: Compiling): Eval {
  const object = c.value(of)
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

function compileSettle({how, value: inner}: IrOf<'settle'>, c: Compiling): Eval {
  if (inner.kind === 'db' && how === 'plain') {
    const run = c.operation(inner.chain)
    return (frame) => run(frame, frame.context)
  }
  const outcome = c.value(inner)
  if (how === 'result') return outcome
  return (frame) => {
    const value = outcome(frame)
    if (value instanceof Err) throw value.failure
    return (value as Ok).value
  }
}

function attempt(run: Operation<Frame>, frame: Frame): Ok | Err {
  try {
    return new Ok(run(frame, frame.context))
  } catch (thrown) {
    if (thrown instanceof DatabaseFailure) return new Err(thrown.message, thrown)
    throw thrown
  }
}
