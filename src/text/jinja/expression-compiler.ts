import {filter, test} from './apply.js'
import {budget, TemplateError} from './budget.js'
import {Loop} from './loop.js'
import {attributeOf, itemOf} from './methods.js'
import type {Arguments, Expression} from './nodes.js'
import {arithmetic, concatenated, holds, negated} from './operators.js'
import type {Scope} from './scope.js'
import {
  Callable,
  Dict,
  isTrue,
  iterate,
  type Named,
  none,
  slice,
  textOf,
  toTuple,
  typeName,
  Undefined,
  type Value,
} from './values.js'

type Evaluate = (scope: Scope) => Value

const noNames: Named = new Map()

export function compileArguments({positional, named, rest, namedRest}: Arguments) {
  const values = positional.map(compileExpression)
  const pairs = named.map(([name, value]) => [name, compileExpression(value)] as const)
  const more = rest === undefined ? undefined : compileExpression(rest)
  const moreNamed = namedRest === undefined ? undefined : compileExpression(namedRest)
  return (scope: Scope): {positional: Value[]; named: Named} => {
    const args = values.map((value) => value(scope))
    if (more !== undefined) args.push(...iterate(more(scope)))
    if (pairs.length === 0 && moreNamed === undefined) return {positional: args, named: noNames}
    const byName = new Map(pairs.map(([name, value]) => [name, value(scope)] as const))
    const others = moreNamed?.(scope)
    if (others !== undefined) {
      if (!(others instanceof Dict))
        throw new TemplateError(`argument after ** must be a mapping, not ${typeName(others)}`)
      for (const [key, value] of others.entries()) byName.set(textOf(key), value)
    }
    return {positional: args, named: byName}
  }
}

export function invoke(callee: Value, args: readonly Value[], named: Named): Value {
  budget.spend(1)
  if (callee instanceof Callable) return callee.call(args, named)
  if (callee instanceof Loop) return callee.call(args)
  if (callee instanceof Undefined) callee.fail()
  throw new TemplateError(`'${typeName(callee)}' object is not callable`)
}

export function compileExpression(node: Expression): Evaluate {
  switch (node.kind) {
    case 'constant': {
      const {value} = node
      return () => value
    }
    case 'name': {
      const {name} = node
      return (scope) => scope.find(name)
    }
    case 'list':
    case 'tuple': {
      const items = node.items.map(compileExpression)
      if (node.kind === 'list') return (scope) => items.map((item) => item(scope))
      return (scope) => toTuple(items.map((item) => item(scope)))
    }
    case 'dict': {
      const entries = node.entries.map(([key, value]) => [compileExpression(key), compileExpression(value)] as const)
      return (scope) => Dict.of(entries.map(([key, value]) => [key(scope), value(scope)] as const))
    }
    case 'attribute': {
      const {name} = node
      const of = compileExpression(node.of)
      return (scope) => attributeOf(of(scope), name)
    }
    case 'item': {
      const of = compileExpression(node.of)
      const key = compileExpression(node.key)
      return (scope) => itemOf(of(scope), key(scope))
    }
    case 'slice': {
      const of = compileExpression(node.of)
      const [start, stop, step] = node.bounds.map((bound) =>
        bound === undefined ? undefined : compileExpression(bound),
      )
      return (scope) => slice(of(scope), [start?.(scope) ?? none, stop?.(scope) ?? none, step?.(scope) ?? none])
    }
    case 'call': {
      const of = compileExpression(node.of)
      const args = compileArguments(node.args)
      return (scope) => {
        const callee = of(scope)
        const {positional, named} = args(scope)
        return invoke(callee, positional, named)
      }
    }
    case 'filter':
    case 'test': {
      const {name} = node
      const apply = node.kind === 'filter' ? filter : test
      const of = compileExpression(node.of)
      const args = compileArguments(node.args)
      return (scope) => {
        const value = of(scope)
        const {positional, named} = args(scope)
        budget.spend(1)
        return apply(name, value, positional, named)
      }
    }
    case 'not': {
      const of = compileExpression(node.of)
      return (scope) => !isTrue(of(scope))
    }
    case 'sign': {
      const of = compileExpression(node.of)
      return (scope) => negated(of(scope), node.sign)
    }
    case 'arithmetic': {
      const [left, right] = [compileExpression(node.left), compileExpression(node.right)]
      const {operator} = node
      return (scope) => arithmetic(operator, left(scope), right(scope))
    }
    case 'and':
    case 'or': {
      const [left, right] = [compileExpression(node.left), compileExpression(node.right)]
      const stopsAt = node.kind === 'or'
      return (scope) => {
        const value = left(scope)
        return isTrue(value) === stopsAt ? value : right(scope)
      }
    }
    case 'comparison':
      return compileComparison(node)
    case 'concatenation': {
      const items = node.items.map(compileExpression)
      return (scope) => concatenated(...items.map((item) => textOf(item(scope))))
    }
    case 'condition': {
      const condition = compileExpression(node.test)
      const then = compileExpression(node.then)
      const otherwise =
        node.otherwise === undefined
          ? () => new Undefined('the inline if-expression evaluated to false and no else section was defined.')
          : compileExpression(node.otherwise)
      return (scope) => (isTrue(condition(scope)) ? then(scope) : otherwise(scope))
    }
  }
}

/** `a < b < c` compares neighbours, and evaluates each value once. */
function compileComparison({first, rest}: Expression & {kind: 'comparison'}): Evaluate {
  const start = compileExpression(first)
  const others = rest.map(([operator, value]) => [operator, compileExpression(value)] as const)
  return (scope) => {
    let left = start(scope)
    for (const [operator, value] of others) {
      const right = value(scope)
      if (!holds(operator, left, right)) return false
      left = right
    }
    return true
  }
}
