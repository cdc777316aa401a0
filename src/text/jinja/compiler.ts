import {filter} from './apply.js'
import {budget, TemplateError} from './budget.js'
import {compileArguments, compileExpression, invoke} from './expression-compiler.js'
import {Loop, loopValues} from './loop.js'
import type {BlockFilter, Parameter, Statement, Target} from './nodes.js'
import {Scope} from './scope.js'
import {Callable, Dict, isTrue, iterate, Namespace, textOf, toTuple, Undefined, type Value} from './values.js'

/** The text that a template has produced. */
class Output {
  text = ''
  write(text: string): void {
    this.text = budget.append(this.text, text)
  }
}

/** How a statement ends: normally, or by leaving the loop or its current turn. */
type Ending = 'break' | 'continue' | undefined
type Run = (scope: Scope, output: Output) => Ending

export function compile(statements: readonly Statement[]): (scope: Scope) => string {
  const run = compileBody(statements)
  return (scope) => {
    const output = new Output()
    run(scope, output)
    return output.text
  }
}

function compileBody(statements: readonly Statement[]): Run {
  const steps = statements.map((statement) => ({line: statement.line, run: compileStatement(statement)}))
  return (scope, output) => {
    for (const {line, run} of steps) {
      budget.line = line
      budget.spend(1)
      const ending = run(scope, output)
      if (ending !== undefined) return ending
    }
    return undefined
  }
}

/** A body whose text is captured. Its variables are its own. */
function compileCapture(statements: readonly Statement[]): (scope: Scope) => string {
  const run = compile(statements)
  return (scope) => run(new Scope(scope))
}

function compileStatement(statement: Statement): Run {
  switch (statement.kind) {
    case 'text': {
      const {text} = statement
      return (_scope, output) => void output.write(text)
    }
    case 'print': {
      const value = compileExpression(statement.value)
      return (scope, output) => void output.write(textOf(value(scope)))
    }
    case 'if':
      return compileIf(statement)
    case 'for':
      return compileFor(statement)
    case 'set': {
      const assign = compileTarget(statement.target)
      const value = compileExpression(statement.value)
      return (scope) => void assign(scope, value(scope))
    }
    case 'capture': {
      const assign = compileTarget(statement.target)
      const capture = compileCapture(statement.body)
      const change = compileFilters(statement.filters)
      return (scope) => void assign(scope, change(scope, capture(scope)))
    }
    case 'filtered': {
      const capture = compileCapture(statement.body)
      const change = compileFilters(statement.filters)
      return (scope, output) => void output.write(textOf(change(scope, capture(scope))))
    }
    case 'macro': {
      const {name} = statement
      const macro = compileMacro(name, statement)
      return (scope) => void scope.set(name, macro(scope))
    }
    case 'call': {
      const caller = compileMacro('caller', statement)
      const of = compileExpression(statement.call.of)
      const args = compileArguments(statement.call.args)
      return (scope, output) => {
        const {positional, named} = args(scope)
        const result = invoke(of(scope), positional, new Map([...named, ['caller', caller(scope)]]))
        output.write(textOf(result))
        return undefined
      }
    }
    case 'with': {
      const entries = statement.entries.map(
        ([target, value]) => [compileTarget(target), compileExpression(value)] as const,
      )
      const body = compileBody(statement.body)
      return (scope, output) => {
        const inner = new Scope(scope)
        const values = entries.map(([, value]) => value(scope))
        for (const [i, [assign]] of entries.entries()) assign(inner, values[i] as Value)
        return body(inner, output)
      }
    }
    case 'break':
    case 'continue':
      return () => statement.kind
  }
}

function compileIf({branches, otherwise}: Statement & {kind: 'if'}): Run {
  const choices = branches.map(([condition, body]) => ({holds: compileExpression(condition), run: compileBody(body)}))
  const last = compileBody(otherwise)
  return (scope, output) => {
    for (const choice of choices) if (isTrue(choice.holds(scope))) return choice.run(scope, output)
    return last(scope, output)
  }
}

function compileFor({target, values, condition, recursive, body, otherwise}: Statement & {kind: 'for'}): Run {
  const assign = compileTarget(target)
  const iterated = compileExpression(values)
  const accepts = condition === undefined ? undefined : compileExpression(condition)
  const run = compileBody(body)
  const last = compileBody(otherwise)

  const loopOver = (value: Value, scope: Scope, output: Output, depth: number): void => {
    const all = loopValues(value)
    const items =
      accepts === undefined
        ? all
        : all.filter((item) => {
            const inner = new Scope(scope)
            assign(inner, item)
            return isTrue(accepts(inner))
          })
    const recurse = (inner: Value): Value => {
      const part = new Output()
      budget.enter()
      loopOver(inner, scope, part, depth + 1)
      budget.leave()
      return part.text
    }
    const loop = new Loop(items, depth, recursive ? recurse : undefined)
    for (const [i, item] of items.entries()) {
      budget.spend(1)
      loop.moveTo(i)
      const inner = new Scope(scope)
      inner.set('loop', loop)
      assign(inner, item)
      if (run(inner, output) === 'break') break
    }
    if (items.length === 0) last(new Scope(scope), output)
  }
  return (scope, output) => void loopOver(iterated(scope), scope, output, 0)
}

function compileTarget(target: Target): (scope: Scope, value: Value) => void {
  switch (target.kind) {
    case 'name': {
      const {name} = target
      return (scope, value) => scope.set(name, value)
    }
    case 'attribute':
      return (scope, value) => {
        const object = scope.find(target.of)
        if (!(object instanceof Namespace)) throw new TemplateError('cannot assign attribute on non-namespace object')
        object.values.set(target.name, value)
      }
    case 'tuple': {
      const parts = target.items.map(compileTarget)
      return (scope, value) => {
        const values = [...iterate(value)]
        if (values.length !== parts.length)
          throw new TemplateError(`a loop or set has ${parts.length} names for ${values.length} values`)
        for (const [i, assign] of parts.entries()) assign(scope, values[i] as Value)
      }
    }
  }
}

function compileFilters(filters: readonly BlockFilter[]): (scope: Scope, text: string) => Value {
  const steps = filters.map(({name, args}) => ({name, args: compileArguments(args)}))
  return (scope, text) =>
    steps.reduce<Value>((value, {name, args}) => {
      const {positional, named} = args(scope)
      return filter(name, value, positional, named)
    }, text)
}

/** A macro sees the variables of its definition, its parameters, and `varargs`, `kwargs` and `caller` if it uses them. */
function compileMacro(name: string, {parameters, body}: {parameters: Parameter[]; body: Statement[]}) {
  const known = parameters.map((parameter) => ({
    name: parameter.name,
    fallback: parameter.fallback === undefined ? undefined : compileExpression(parameter.fallback),
  }))
  const run = compile(body)
  const uses = namesIn(body)
  return (outer: Scope): Callable =>
    new Callable(
      name,
      (args, named) => {
        const scope = new Scope(outer)
        const others = new Map(named)
        const caller = others.get('caller')
        if (caller !== undefined && !known.some((parameter) => parameter.name === 'caller')) {
          if (!uses.has('caller'))
            throw new TemplateError(`macro '${name}' was invoked with two values for the special caller argument`)
          others.delete('caller')
        }
        if (uses.has('caller')) scope.set('caller', caller ?? new Undefined('No caller defined'))
        for (const [i, parameter] of known.entries()) {
          const value = args[i] ?? others.get(parameter.name)
          if (i >= args.length) others.delete(parameter.name)
          scope.set(
            parameter.name,
            value ?? parameter.fallback?.(scope) ?? new Undefined(`parameter '${parameter.name}' was not provided`),
          )
        }
        if (uses.has('varargs')) scope.set('varargs', toTuple(args.slice(known.length)))
        else if (args.length > known.length)
          throw new TemplateError(`macro '${name}' takes not more than ${known.length} argument(s)`)
        if (uses.has('kwargs')) scope.set('kwargs', Dict.of(others))
        else if (others.size > 0)
          throw new TemplateError(`macro '${name}' takes no keyword argument '${[...others.keys()][0]}'`)
        budget.enter()
        const text = run(scope)
        budget.leave()
        return text
      },
      'Macro',
      new Map<string, Value>([
        ['name', name],
        ['arguments', toTuple(known.map((parameter) => parameter.name))],
        ['catch_varargs', uses.has('varargs')],
        ['catch_kwargs', uses.has('kwargs')],
        ['caller', uses.has('caller')],
      ]),
    )
}

/** All variables that statements read. */
function namesIn(statements: readonly Statement[]): ReadonlySet<string> {
  const names = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const {kind, name} = node as {kind?: unknown; name?: unknown}
    if (kind === 'name') names.add(name as string)
    for (const child of Object.values(node)) visit(child)
  }
  visit(statements)
  return names
}
