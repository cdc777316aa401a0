import {type Ir, type IrStmt, type Visitor, visit, visitSome} from '../check/index.js'
import {assigned} from './elements.js'
import {Failure} from './failure.js'
import {
  assignOf,
  broke,
  type Compiling,
  type Completion,
  continued,
  type Eval,
  type Exec,
  type Frame,
  type Jump,
  jumps,
  loadOf,
  normal,
  returned,
  type Use,
  valued,
} from './frame.js'
import {compilePattern} from './patterns.js'
import {Err, Ok, type Value} from './value.js'

/** The context of a construct: the compiler, and the use of its value. */
interface Place {
  c: Compiling
  use: Use
}

/** Compiles an expression so that `return`, `break` and `continue` in it are not thrown. */
export const compileControl = (ir: Ir, place: Place): Exec => visitSome(ir, constructs, place, compileValue)

const constructs: Partial<Visitor<Ir, Exec, Place>> = {
  block: ({statements}, place) => sequence(statements.map((stmt, i) => last(stmt, i === statements.length - 1, place))),
  if: ({condition: test, consequent: first, otherwise: second}, {c, use}) => {
    const condition = c.value(test)
    const consequent = c.control(first, use)
    const otherwise = second === undefined ? undefined : c.control(second, use)
    return (frame) => (condition(frame) ? consequent(frame) : otherwise === undefined ? normal : otherwise(frame))
  },
  match: ({subject, arms}, place) => {
    const {c} = place
    const evaluate = c.value(subject)
    const compiled = arms.map(({pattern, guard, body}) => ({
      fits: compilePattern(pattern),
      guard: guard === undefined ? undefined : c.value(guard),
      body: last(body, true, place),
    }))
    return (frame) => {
      const value = evaluate(frame)
      for (const {fits, guard, body} of compiled)
        if (fits(frame, value) && (guard === undefined || guard(frame) === true)) return body(frame)
      throw new Failure('UNWRAP', 'no match arm matches the value')
    }
  },
  // A loop has no value.
  for: ({item, index, list, body}, {c}) => {
    const values = c.value(list)
    const run = c.control(body, 'ignore')
    const bindItem = compilePattern(item)
    const bindIndex = index === undefined ? undefined : compilePattern(index)
    return (frame) => {
      for (const [key, value] of pairs(values(frame))) {
        frame.context.step()
        bindItem(frame, value)
        bindIndex?.(frame, key)
        const completion = iteration(run, frame)
        if (completion === broke) return normal
        if (completion === returned) return returned
      }
      return normal
    }
  },
}

/** Compiles a statement; the value of the last one is used as `place` specifies. */
const last = (stmt: IrStmt, isLast: boolean, {c, use}: Place): Exec =>
  isLast && stmt.kind === 'expr' ? c.control(stmt.value, use) : visit(stmt, statements, c)

function compileValue(ir: Ir, {c, use}: Place): Exec {
  const evaluate = c.value(ir)
  if (use === 'ignore')
    return (frame) => {
      evaluate(frame)
      return normal
    }
  const completion = use === 'return' ? returned : valued
  return (frame) => {
    frame.result = evaluate(frame)
    return completion
  }
}

function sequence(steps: readonly Exec[]): Exec {
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

const statements: Visitor<IrStmt, Exec, Compiling> = {
  let: ({pattern, value: expr}, c) => {
    const value = c.value(expr)
    const bind = compilePattern(pattern)
    return (frame) => {
      if (!bind(frame, value(frame))) throw new Failure('UNWRAP', 'the value does not match the pattern')
      return normal
    }
  },
  assign: ({value: expr, binding}, c) => {
    const value = c.value(expr)
    const assign = assignOf(binding)
    return (frame) => {
      assign(frame, value(frame))
      return normal
    }
  },
  assign_element: ({binding, index: at, value: expr}, c) => {
    const [index, value] = [c.value(at), c.value(expr)]
    const [load, assign] = [loadOf(binding), assignOf(binding)]
    return (frame) => {
      const [place, item] = [index(frame), value(frame)]
      const before = load(frame)
      // A variable without a declared type holds the outcome of a database operation.
      if (before instanceof Err) throw before.failure
      if (before instanceof Ok) assign(frame, new Ok(assigned(before.value, place, item, frame.context)))
      else assign(frame, assigned(before, place, item, frame.context))
      return normal
    }
  },
  return: ({value: expr}, c) => {
    const value = expr === undefined ? undefined : c.value(expr)
    return (frame) => {
      frame.result = value?.(frame)
      return returned
    }
  },
  while: ({condition, body}, c) => loop(c.value(condition), c.control(body, 'ignore')),
  loop: ({body}, c) => loop(() => true, c.control(body, 'ignore')),
  break: () => () => broke,
  continue: () => () => continued,
  expr: ({value}, c) => c.control(value, 'ignore'),
}

function loop(condition: Eval, body: Exec): Exec {
  return (frame) => {
    while (condition(frame) === true) {
      frame.context.step()
      const completion = iteration(body, frame)
      if (completion === broke) return normal
      if (completion === returned) return returned
    }
    return normal
  }
}

/** Runs one loop iteration, and catches a jump out of it. */
function iteration(body: Exec, frame: Frame): Completion {
  try {
    return body(frame)
  } catch (thrown) {
    if (thrown === jumps[broke] || thrown === jumps[continued]) return (thrown as Jump).completion
    throw thrown
  }
}

/** The pairs that `for` iterates over: elements with their positions, or keys with their values. */
function* pairs(values: Value): Generator<[Value, Value]> {
  if (values instanceof Map) for (const [key, value] of values) yield [value, key]
  else {
    const items = typeof values === 'string' ? [...values] : Array.isArray(values) ? values : undefined
    if (items === undefined) throw new Failure('CONVERSION', 'the value is not iterable')
    for (let i = 0; i < items.length; i++) yield [i, items[i]]
  }
}
