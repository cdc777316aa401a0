import {isEqual} from './comparison.js'
import {type Definition, define} from './definition.js'
import {arithmetic, type Comparison, holds} from './operators.js'
import {isLowerText, isUpperText} from './text.js'
import {Callable, Dict, Float, isIterable, none, numberOf, Range, textOf, Undefined, type Value} from './values.js'

type Test = Definition<readonly [Value]>

const simple = (run: (value: Value) => boolean): Test => define('', run)
const comparison = (operator: Comparison): Test =>
  define('other', (value: Value, other: Value) => holds(operator, value, other))

const divisible = (value: Value, by: Value) => isEqual(arithmetic('%', value, by), 0)
const isDefined = (value: Value) => !(value instanceof Undefined)

const isSame = (a: Value, b: Value) =>
  a === b ||
  (a instanceof Undefined && b instanceof Undefined) ||
  (a instanceof Float && b instanceof Float && a.value === b.value)

/** Tests of `is`. */
export const tests: ReadonlyMap<string, Test> = new Map(
  Object.entries<Test>({
    boolean: simple((value) => typeof value === 'boolean'),
    callable: simple((value) => value instanceof Callable || value instanceof Undefined),
    defined: simple(isDefined),
    divisibleby: define('num', (value: Value, by: Value) => divisible(value, by)),
    escaped: simple(() => false),
    even: simple((value) => divisible(value, 2)),
    false: simple((value) => value === false),
    float: simple((value) => value instanceof Float),
    integer: simple((value) => typeof value === 'number'),
    iterable: simple(isIterable),
    lower: simple((value) => isLowerText(textOf(value))),
    mapping: simple((value) => value instanceof Dict),
    none: simple((value) => value === none),
    number: simple((value) => numberOf(value) !== undefined),
    odd: simple((value) => isEqual(arithmetic('%', value, 2), 1)),
    sameas: define('other', (value: Value, other: Value) => isSame(value, other)),
    sequence: simple(
      (value) =>
        typeof value === 'string' ||
        Array.isArray(value) ||
        value instanceof Dict ||
        value instanceof Range ||
        value instanceof Undefined,
    ),
    string: simple((value) => typeof value === 'string'),
    true: simple((value) => value === true),
    undefined: simple((value) => !isDefined(value)),
    upper: simple((value) => isUpperText(textOf(value))),
    in: comparison('in'),
    ...comparisons(),
  }),
)

function comparisons(): Record<string, Test> {
  const names: Readonly<Partial<Record<Comparison, readonly string[]>>> = {
    '==': ['eq', 'equalto'],
    '!=': ['ne'],
    '>': ['gt', 'greaterthan'],
    '>=': ['ge'],
    '<': ['lt', 'lessthan'],
    '<=': ['le'],
  }
  return Object.fromEntries(
    Object.entries(names).flatMap(([operator, others]) =>
      [operator, ...others].map((name) => [name, comparison(operator as Comparison)] as const),
    ),
  )
}
