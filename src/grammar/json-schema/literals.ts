import type {Pattern} from '../grammar.js'
import {jsonString} from '../json/text.js'
import {text} from '../pattern/build.js'
import {decimal} from './decimal.js'
import {shortNumber} from './number-range.js'

export type Scalar = null | boolean | number | string

/** The texts of a scalar. */
export function literalPattern(value: Scalar): Pattern {
  if (typeof value === 'string') return jsonString(text(value))
  return typeof value === 'number' ? shortNumber(decimal(value)) : text(String(value))
}
