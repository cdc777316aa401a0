import {TemplateError} from './budget.js'
import {type Argument, requireInteger} from './definition.js'
import {fixed} from './format.js'
import {integer} from './operators.js'
import {strip} from './text.js'
import {Float, isTrue, numberOf, repr, typeName, Undefined, type Value} from './values.js'

export function toInteger(value: Value, fallback: Argument, base: Argument): Value {
  if (value instanceof Undefined) value.fail()
  if (value instanceof Float && Number.isFinite(value.value)) return integer(Math.trunc(value.value))
  if (typeof value === 'number' || typeof value === 'boolean') return Number(value)
  if (typeof value !== 'string') return fallback ?? 0
  const number = parseInteger(value, requireInteger(base, 10)) ?? Math.trunc(parseFloating(value) ?? Number.NaN)
  return Number.isFinite(number) ? integer(number) : (fallback ?? 0)
}

function parseInteger(value: string, base: number): number | undefined {
  const digits = strip(value, undefined, 'both').toLowerCase()
  const [, sign, prefix, rest = ''] = /^([-+]?)(0[box])?([\da-z]+(?:_[\da-z]+)*)$/.exec(digits) ?? []
  const bases: Readonly<Record<string, number>> = {'0b': 2, '0o': 8, '0x': 16}
  const ownBase = prefix === undefined ? undefined : bases[prefix]
  if (ownBase !== undefined && base !== ownBase && base !== 0) return undefined
  const radix = base === 0 ? (ownBase ?? 10) : base
  const plain = rest.replaceAll('_', '')
  if (plain === '' || ![...plain].every((digit) => Number.parseInt(digit, 36) < radix)) return undefined
  return (sign === '-' ? -1 : 1) * Number.parseInt(plain, radix)
}

export function parseFloating(value: string): number | undefined {
  const digits = strip(value, undefined, 'both').toLowerCase()
  if (/^[-+]?inf(inity)?$/.test(digits)) return digits.startsWith('-') ? -Infinity : Infinity
  if (digits === 'nan') return Number.NaN
  return decimal.test(digits) ? Number(digits.replaceAll('_', '')) : undefined
}
const decimal = /^[-+]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[-+]?\d+(?:_\d+)*)?$/

export function round(value: Value, precision: Argument, method: Argument): Value {
  const how = method ?? 'common'
  if (how !== 'common' && how !== 'ceil' && how !== 'floor')
    throw new TemplateError('method must be common, ceil or floor')
  const number = numberOf(value)
  if (value instanceof Undefined) value.fail()
  if (number === undefined) throw new TemplateError(`type ${typeName(value)} doesn't define __round__ method`)
  const places = requireInteger(precision, 0)
  const scale = 10 ** places
  if (how !== 'common') return new Float(Math[how](number * scale) / scale)
  const rounded = places < 0 ? Number(fixed(number * scale, 0)) / scale : Number(fixed(number, places))
  return value instanceof Float ? new Float(rounded) : integer(rounded)
}

export function fileSize(value: Value, binary: Argument): string {
  const bytes = typeof value === 'string' ? (parseFloating(value) ?? Number.NaN) : (numberOf(value) ?? Number.NaN)
  if (Number.isNaN(bytes)) throw new TemplateError(`could not convert to float: ${repr(value)}`)
  const isBinary = isTrue(binary ?? false)
  const base = isBinary ? 1024 : 1000
  if (bytes === 1) return '1 Byte'
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`
  const prefixes = [...'kMGTPEZY'].map((letter) => (isBinary ? `${letter.toUpperCase()}iB` : `${letter}B`))
  const at = Math.min(
    prefixes.length - 1,
    prefixes.findIndex((_, i) => bytes < base ** (i + 2)),
  )
  const found = at === -1 ? prefixes.length - 1 : at
  return `${fixed((base * bytes) / base ** (found + 2), 1)} ${prefixes[found]}`
}
