import type {Pattern} from '../grammar.js'
import {text} from '../pattern/build.js'
import {decimal} from './decimal.js'
import {shortNumber} from './number-range.js'

export type Scalar = null | boolean | number | string

/** The texts of a scalar other than a string. */
export const literalPattern = (value: Exclude<Scalar, string>): Pattern =>
  typeof value === 'number' ? shortNumber(decimal(value)) : text(String(value))
