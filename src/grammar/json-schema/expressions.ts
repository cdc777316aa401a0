import type {Expression} from '../grammar.js'

/** Matches the empty text. */
export const empty: Expression = {kind: 'sequence', parts: []}

export const sequence = (...parts: readonly Expression[]): Expression => {
  const kept = parts.filter((part) => part !== empty)
  return kept.length === 1 ? kept[0]! : {kind: 'sequence', parts: kept}
}

/** Without options, matches nothing. */
export const either = (...options: readonly Expression[]): Expression =>
  options.length === 1 ? options[0]! : {kind: 'either', options}

export const some = (part: Expression, min: number, max: number): Expression =>
  max === 0 ? empty : {kind: 'repeat', part, min, max}

export const any = (part: Expression): Expression => some(part, 0, Number.POSITIVE_INFINITY)
