import {budget, TemplateError} from './budget.js'
import {textLength} from './text.js'
import {
  Dict,
  Float,
  floatText,
  numberOf,
  Range,
  repr,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from './values.js'

/** A decimal with a number of digits; ties go to the even digit, as in Python. */
export function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return floatText(value)
  const places = Math.min(99, digits)
  const rounded = value.toFixed(places)
  const exact = value.toFixed(100)
  const end = exact.length - 100 + places
  const kept = exact.slice(0, places === 0 ? end - 1 : end)
  return /^50*$/.test(exact.slice(end)) && /[02468]$/.test(kept) ? kept : rounded
}

function exponential(value: number, digits: number): string {
  if (!Number.isFinite(value)) return floatText(value)
  const [mantissa, exponent] = value.toExponential(Math.min(100, digits)).split('e') as [string, string]
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
}

function general(value: number, precision: number, keepZeros: boolean): string {
  if (!Number.isFinite(value)) return floatText(value)
  const digits = Math.min(100, Math.max(1, precision))
  const power = value === 0 ? 0 : Number(value.toExponential(digits - 1).split('e')[1])
  const text = power < -4 || power >= digits ? exponential(value, digits - 1) : fixed(value, digits - 1 - power)
  return keepZeros || !text.includes('.') ? text : text.replace(/\.?0+(?=e|$)/, '')
}

const specification =
  /^(?:(?<fill>[\s\S])?(?<align>[<>=^]))?(?<sign>[-+ ])?(?<alternate>#)?(?<zero>0)?(?<width>\d+)?(?<group>[,_])?(?:\.(?<precision>\d+))?(?<type>[bcdeEfFgGnosxX%])?$/u

/** Python's `format(value, spec)`. */
export function formatValue(value: Value, spec: string): string {
  if (spec === '') return textOf(value)
  const groups = specification.exec(spec)?.groups as Readonly<Record<string, string | undefined>> | undefined
  if (groups === undefined) throw new TemplateError(`Invalid format specifier '${spec}'`)
  const {fill, align, zero, type} = groups
  const precision = groups.precision === undefined ? undefined : Number(groups.precision)
  const number = numberOf(value)
  const padding = {fill: fill ?? (zero ? '0' : ' '), width: Number(groups.width ?? 0)}
  const unknown = () => new TemplateError(`Unknown format code '${type}' for object of type '${typeName(value)}'`)
  if (number === undefined) {
    if (typeof value !== 'string')
      throw new TemplateError(`unsupported format string passed to ${typeName(value)}.__format__`)
    if (type !== undefined && type !== 's') throw unknown()
    const cut = precision === undefined ? value : Array.from(value).slice(0, precision).join('')
    return pad(cut, {...padding, align: align ?? '<'})
  }
  if (type === 's') throw unknown()
  if (type === 'c') return pad(String.fromCodePoint(number), {...padding, align: align ?? '<'})
  const isFloat = value instanceof Float
  if (isFloat && type !== undefined && 'bdoxX'.includes(type)) throw unknown()
  const digits = digitsOf(number, {type, isFloat, precision, alternate: groups.alternate !== undefined})
  const [, prefix = '', whole = '', rest = ''] = /^(0[bBoOxX])?([\da-zA-Z]+)(.*)$/.exec(digits) ?? []
  const grouped = groups.group === undefined ? whole : whole.replaceAll(/\B(?=(?:\d{3})+$)/g, groups.group)
  const sign = number < 0 || Object.is(number, -0) ? '-' : groups.sign === '+' || groups.sign === ' ' ? groups.sign : ''
  const alignment = align ?? (zero ? '=' : '>')
  const body = grouped + rest
  if (alignment !== '=') return pad(sign + prefix + body, {...padding, align: alignment})
  return sign + prefix + pad(body, {...padding, width: padding.width - sign.length - prefix.length, align: '>'})
}

interface Digits {
  type: string | undefined
  isFloat: boolean
  precision: number | undefined
  alternate: boolean
}

function digitsOf(number: number, {type, isFloat, precision, alternate}: Digits): string {
  const size = Math.abs(number)
  switch (type) {
    case 'b':
      return (alternate ? '0b' : '') + size.toString(2)
    case 'o':
      return (alternate ? '0o' : '') + size.toString(8)
    case 'x':
      return (alternate ? '0x' : '') + size.toString(16)
    case 'X':
      return (alternate ? '0X' : '') + size.toString(16).toUpperCase()
    case 'e':
      return exponential(size, precision ?? 6)
    case 'E':
      return exponential(size, precision ?? 6).toUpperCase()
    case 'f':
    case 'F':
      return fixed(size, precision ?? 6)
    case 'g':
      return general(size, precision ?? 6, alternate)
    case 'G':
      return general(size, precision ?? 6, alternate).toUpperCase()
    case '%':
      return `${fixed(size * 100, precision ?? 6)}%`
    default:
      if (!isFloat) return String(size)
      if (precision === undefined) return floatText(size)
      return withPoint(general(size, precision, false))
  }
}

const withPoint = (text: string) => (/[.en]/.test(text) ? text : `${text}.0`)

interface Padding {
  fill: string
  width: number
  align: string
}

export function pad(text: string, {fill, width, align}: Padding): string {
  const missing = Math.max(0, width - textLength(text))
  if (missing === 0) return text
  budget.create(text.length + missing)
  const left = align === '>' ? missing : align === '^' ? Math.floor(missing / 2) : 0
  return fill.repeat(left) + text + fill.repeat(missing - left)
}

/** A directive after its per cent sign and key: flags, width, precision and type. */
const directive = /([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?([\s\S])/y

/** Python's `template % values`. */
export function percentFormat(template: string, values: Value): string {
  const list = values instanceof Tuple ? [...values] : [values]
  let next = 0
  const take = (): Value => {
    const value = list[next++]
    if (value === undefined) throw new TemplateError('not enough arguments for format string')
    return value
  }
  const count = (text: string | undefined): number | undefined => {
    if (text === undefined) return undefined
    const number = text === '*' ? take() : Number(text)
    if (typeof number !== 'number') throw new TemplateError('* wants int')
    return number
  }
  const filled = (key: string | undefined, [, flags = '', w, p, type = '']: RegExpExecArray): string => {
    if (type === '%') return '%'
    if (key !== undefined && !(values instanceof Dict)) throw new TemplateError('format requires a mapping')
    const [width, precision] = [count(w), count(p)]
    const value = key === undefined ? take() : ((values as Dict).get(key) ?? failKey(key))
    return percentValue(value, {flags, width: width ?? 0, precision, type})
  }
  budget.read(template)
  let [text, at] = ['', 0]
  for (;;) {
    const sign = template.indexOf('%', at)
    if (sign === -1) break
    const keyEnd = template[sign + 1] === '(' ? closing(template, sign + 1) : sign
    directive.lastIndex = keyEnd + 1
    const match = directive.exec(template)
    if (match === null) throw new TemplateError('incomplete format')
    text = budget.append(text, template.slice(at, sign))
    at = directive.lastIndex
    text = budget.append(text, filled(keyEnd === sign ? undefined : template.slice(sign + 2, keyEnd), match))
  }
  text = budget.append(text, template.slice(at))
  // Python takes lists and ranges for mappings, of which not every entry has to be used.
  const isMapping =
    values instanceof Dict || values instanceof Range || (Array.isArray(values) && !(values instanceof Tuple))
  if (next < list.length && !isMapping) throw new TemplateError('not all arguments converted during string formatting')
  return text
}

/** Position of the parenthesis that closes the one at a position. */
function closing(template: string, start: number): number {
  let depth = 0
  for (let at = start; at < template.length; at++) {
    if (template[at] === '(') depth++
    else if (template[at] === ')' && --depth === 0) return at
  }
  throw new TemplateError('incomplete format key')
}

function failKey(key: string): never {
  throw new TemplateError(`key ${repr(key)} is missing`)
}

interface Percent {
  flags: string
  width: number
  precision: number | undefined
  type: string
}

function percentValue(value: Value, {flags, width, precision, type}: Percent): string {
  const align = flags.includes('-') ? '<' : '>'
  if (type === 's' || type === 'r' || type === 'a' || type === 'c') {
    const text =
      type === 's'
        ? textOf(value)
        : type === 'c' && typeof value === 'number'
          ? String.fromCodePoint(value)
          : type === 'c'
            ? textOf(value)
            : repr(value)
    return pad(precision === undefined ? text : Array.from(text).slice(0, precision).join(''), {
      fill: ' ',
      width,
      align,
    })
  }
  if (!'diouxXeEfFgG'.includes(type))
    throw new TemplateError(`unsupported format character '${type}' (0x${type.codePointAt(0)?.toString(16)})`)
  if (value instanceof Undefined) value.fail()
  const number = numberOf(value)
  if (number === undefined)
    throw new TemplateError(
      'eEfFgG'.includes(type)
        ? `must be real number, not ${typeName(value)}`
        : `%${type} format: a real number is required, not ${typeName(value)}`,
    )
  const isWhole = 'diu'.includes(type)
  budget.require(precision ?? 0)
  const whole = isWhole || 'oxX'.includes(type) ? Math.trunc(number) : number
  const digits = isWhole
    ? String(Math.abs(whole)).padStart(precision ?? 0, '0')
    : digitsOf(whole, {type, isFloat: true, precision, alternate: flags.includes('#')})
  const sign = number < 0 || Object.is(number, -0) ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
  if (flags.includes('0') && align === '>')
    return sign + pad(digits, {fill: '0', width: width - sign.length, align: '>'})
  return pad(sign + digits, {fill: ' ', width, align})
}

/** Reads the fields of `str.format`. @param attribute reads an attribute, @param item reads an item of a value */
export function formatFields(
  template: string,
  args: readonly Value[],
  named: ReadonlyMap<string, Value>,
  access: {attribute(value: Value, name: string): Value; item(value: Value, key: Value): Value},
): string {
  let automatic = 0
  const field = (path: string): Value => {
    const [, name = '', rest = ''] = /^([^.[]*)([\s\S]*)$/.exec(path) ?? []
    const index = path === '' ? automatic++ : /^\d+$/.test(name) ? Number(name) : undefined
    let value = index === undefined ? named.get(name) : args[index]
    if (value === undefined)
      throw new TemplateError(
        index === undefined ? repr(name) : `Replacement index ${index} out of range for positional args tuple`,
      )
    let read = 0
    for (const [all, attribute, key] of rest.matchAll(/\.([^.[]+)|\[([^\]]+)\]/gy)) {
      read += all.length
      value =
        attribute === undefined
          ? access.item(value, /^\d+$/.test(key as string) ? Number(key) : (key as string))
          : access.attribute(value, attribute)
      if (value instanceof Undefined) value.fail()
    }
    if (read < rest.length) throw new TemplateError(`Invalid field ${repr(path)} in format string`)
    return value
  }
  let length = 0
  const counted = (part: string): string => {
    length += part.length
    budget.require(length)
    budget.create(part.length)
    return part
  }
  budget.read(template)
  const expand = (text: string, depth: number): string =>
    text.replaceAll(
      /\{\{|\}\}|\{([^{}:!]*)(?:!([rsa]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}|[{}]/g,
      (all: string, path?: string, conversion?: string, spec?: string) => {
        if (path === undefined) {
          if (all.length === 2) return all[0] as string
          throw new TemplateError(`Single '${all}' encountered in format string`)
        }
        const value = field(path)
        const shown = conversion === undefined ? value : conversion === 's' ? textOf(value) : repr(value)
        return counted(formatValue(shown, spec === undefined ? '' : depth > 0 ? spec : expand(spec, depth + 1)))
      },
    )
  return expand(counted(template), 0)
}
