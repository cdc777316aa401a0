import {type IrPattern, type Visitor, visit} from '../check/index.js'
import {type Frame, storeOf} from './frame.js'
import {Err, isObject, Ok, type Value} from './value.js'

/** Whether a value matches a pattern; binds its names. */
export type Fits = (frame: Frame, value: Value) => boolean

export const compilePattern = (pattern: IrPattern): Fits => visit(pattern, patterns, undefined)

const patterns: Visitor<IrPattern, Fits, undefined> = {
  any: () => () => true,
  bind: ({binding}) => {
    const store = storeOf(binding)
    return (frame, value) => {
      store(frame, value)
      return true
    }
  },
  literal:
    ({value: literal}) =>
    (_, value) =>
      value === literal,
  none: () => (_, value) => value === null,
  some: ({of}) => {
    const inner = compilePattern(of)
    return (frame, value) => value !== null && inner(frame, value)
  },
  ok: ({of}) => wrapped(Ok, compilePattern(of)),
  error: ({of}) => wrapped(Err, compilePattern(of)),
  variant: ({tag, fields: patternsOf}) => {
    const fields = patternsOf.map(([name, field]) => [name, compilePattern(field)] as const)
    return (frame, value) =>
      isObject(value) && value._tag === tag && fields.every(([name, fits]) => fits(frame, value[name] ?? null))
  },
  tuple: ({items: patternsOf}) => {
    const items = patternsOf.map(compilePattern)
    return (frame, value) => Array.isArray(value) && items.every((fits, i) => fits(frame, value[i]))
  },
}

const wrapped =
  (wrapper: typeof Ok | typeof Err, inner: Fits): Fits =>
  (frame, value) =>
    value instanceof wrapper && inner(frame, value.value)
