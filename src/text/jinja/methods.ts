import {budget, TemplateError} from './budget.js'
import {isEqual} from './comparison.js'
import {type Argument, bindMethod, type Definition, define, requireInteger, requireText} from './definition.js'
import {formatFields, pad} from './format.js'
import {
  capitalized,
  characters,
  isAll,
  isLowerText,
  isSpaceText,
  isTitleText,
  isUpperText,
  splitAt,
  splitLines,
  splitWords,
  strip,
  textLength,
  titledWords,
} from './text.js'
import {
  Callable,
  Dict,
  describe,
  Group,
  isTrue,
  iterate,
  missingAttribute,
  none,
  Range,
  slice,
  Tuple,
  textOf,
  toTuple,
  typeName,
  Undefined,
  type Value,
  View,
} from './values.js'

type Method<T> = Definition<readonly [T]>

export const optionalText = (value: Argument, what: string): string | undefined =>
  value === undefined || value === none ? undefined : requireText(value, what)

/** The part of a text between two optional bounds. */
const part = (text: string, start: Argument, end: Argument) =>
  start === undefined && end === undefined ? text : (slice(text, [start ?? none, end ?? none, none]) as string)

/** Position of a text in code points, or -1. */
function position(text: string, wanted: Argument, bounds: readonly [Argument, Argument], fromRight: boolean): number {
  const within = part(text, ...bounds)
  const sought = requireText(wanted, 'argument')
  budget.search(within, sought)
  const at = fromRight ? within.lastIndexOf(sought) : within.indexOf(sought)
  if (at === -1) return -1
  const start = requireInteger(bounds[0] === none ? undefined : bounds[0], 0)
  const length = textLength(text)
  return textLength(within.slice(0, at)) + Math.min(length, start < 0 ? Math.max(0, start + length) : start)
}

const found = (at: number): number => {
  if (at === -1) throw new TemplateError('substring not found')
  return at
}

const isAffix = (test: (text: string, affix: string) => boolean): Method<string> =>
  define('affix start? end?', (text: string, affix: Value, start: Argument, end: Argument) => {
    const within = part(text, start, end)
    return (affix instanceof Tuple ? [...affix] : [affix]).some((each) => {
      budget.spend(1)
      budget.read(each)
      return test(within, requireText(each, 'affix'))
    })
  })

const stripping = (sides: 'both' | 'left' | 'right'): Method<string> =>
  define('chars?', (text: string, chars: Argument) => strip(text, optionalText(chars, 'strip arg'), sides))

const aligned = (align: string): Method<string> =>
  define('width fillchar?', (text: string, width: Argument, fill: Argument) =>
    pad(text, {fill: fillOf(fill), width: requireInteger(width, 0), align}),
  )

function fillOf(value: Argument): string {
  const fill = optionalText(value, 'fill character') ?? ' '
  if (fill.length > 2 || textLength(fill) !== 1)
    throw new TemplateError('The fill character must be exactly one character long')
  return fill
}

/** Python puts the odd character of a centred text on the left if the width is odd. */
export function centred(text: string, width: number, fill = ' '): string {
  const missing = Math.max(0, width - textLength(text))
  budget.create(text.length + missing)
  const left = Math.floor(missing / 2) + (missing & width & 1)
  return fill.repeat(left) + text + fill.repeat(missing - left)
}

const splitting = (fromRight: boolean): Method<string> =>
  define('sep? maxsplit?', (text: string, sep: Argument, limit: Argument) => {
    const separator = optionalText(sep, 'separator')
    if (separator === '') throw new TemplateError('empty separator')
    const max = requireInteger(limit, -1)
    budget.search(text, separator ?? ' ')
    return keptParts(
      separator === undefined ? splitWords(text, max, fromRight) : splitAt(text, separator, max, fromRight),
    )
  })

/** Characters that take as much memory as a part of a text, without its own. */
const partSize = 32

function keptParts(parts: string[]): string[] {
  for (const {length} of parts) budget.create(partSize + length)
  budget.spend(parts.length)
  return parts
}

const partitioning = (fromRight: boolean): Method<string> =>
  define('sep', (text: string, sep: Argument) => {
    const separator = requireText(sep, 'separator')
    if (separator === '') throw new TemplateError('empty separator')
    budget.search(text, separator)
    const at = fromRight ? text.lastIndexOf(separator) : text.indexOf(separator)
    if (at === -1) return toTuple(fromRight ? ['', '', text] : [text, '', ''])
    return toTuple([text.slice(0, at), separator, text.slice(at + separator.length)])
  })

/** Replaces at most `count` occurrences; all of them if it is negative. */
export function replaced(text: string, old: string, now: string, count: number): string {
  budget.search(text, old)
  if (count < 0) {
    const times = now.length > old.length ? text.split(old).length : 0
    budget.create(text.length + times * now.length)
    return old === '' ? now + Array.from(text, (each) => each + now).join('') : text.replaceAll(old, () => now)
  }
  const parts = old === '' ? ['', ...characters(text), ''] : text.split(old)
  const joined = Math.min(count, parts.length - 1)
  budget.create(text.length + joined * now.length)
  return (
    parts
      .slice(0, joined)
      .map((each) => each + now)
      .join('') + parts.slice(joined).join(old)
  )
}

export function joined(values: Value, separator: string): string {
  const parts = [...iterate(values)].map((value, i) => {
    if (typeof value === 'string') return value
    throw new TemplateError(`sequence item ${i}: expected str instance, ${typeName(value)} found`)
  })
  return joinedTexts(parts, separator)
}

export function joinedTexts(parts: readonly string[], separator: string): string {
  budget.create(parts.reduce((sum, {length}) => sum + length + separator.length, 0))
  return parts.join(separator)
}

const simple = (run: (text: string) => Value): Method<string> => define('', run)

const textMethods: ReadonlyMap<string, Method<string>> = new Map(
  Object.entries<Method<string>>({
    capitalize: simple(capitalized),
    casefold: simple((text) => text.toLowerCase().toUpperCase().toLowerCase()),
    center: define('width fillchar?', (text: string, width: Argument, fill: Argument) =>
      centred(text, requireInteger(width, 0), fillOf(fill)),
    ),
    count: define('sub start? end?', (text: string, sub: Argument, start: Argument, end: Argument) => {
      const within = part(text, start, end)
      budget.search(within, requireText(sub, 'argument'))
      return sub === '' ? textLength(within) + 1 : within.split(requireText(sub, 'argument')).length - 1
    }),
    endswith: isAffix((text, suffix) => text.endsWith(suffix)),
    expandtabs: define('tabsize?', (text: string, size: Argument) => {
      const width = requireInteger(size, 8)
      let column = 0
      return text.replaceAll(/[\s\S]/gu, (each) => {
        if (each === '\n' || each === '\r') column = 0
        else column += each === '\t' ? 0 : 1
        if (each !== '\t') return each
        const missing = width > 0 ? width - (column % width) : 0
        column += missing
        budget.create(missing)
        return ' '.repeat(missing)
      })
    }),
    find: define('sub start? end?', (text: string, sub: Argument, start: Argument, end: Argument) =>
      position(text, sub, [start, end], false),
    ),
    index: define('sub start? end?', (text: string, sub: Argument, start: Argument, end: Argument) =>
      found(position(text, sub, [start, end], false)),
    ),
    isalnum: simple((text) => isAll(text, /[\p{L}\p{Nd}\p{No}\p{Nl}]/u)),
    isalpha: simple((text) => isAll(text, /\p{L}/u)),
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII.
    isascii: simple((text) => /^[\x00-\x7f]*$/.test(text)),
    isdecimal: simple((text) => isAll(text, /\p{Nd}/u)),
    isdigit: simple((text) => isAll(text, /[\p{Nd}²³¹⁰⁴-⁹₀-₉]/u)),
    isidentifier: simple((text) => /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(text)),
    islower: simple(isLowerText),
    isnumeric: simple((text) => isAll(text, /\p{N}/u)),
    isprintable: simple((text) => !/[\p{C}\p{Z}]/u.test(text.replaceAll(' ', ''))),
    isspace: simple(isSpaceText),
    istitle: simple(isTitleText),
    isupper: simple(isUpperText),
    join: define('iterable', (text: string, values: Value) => joined(values, text)),
    ljust: aligned('<'),
    lower: simple((text) => text.toLowerCase()),
    lstrip: stripping('left'),
    partition: partitioning(false),
    removeprefix: define('prefix', (text: string, prefix: Argument) => {
      const start = requireText(prefix, 'argument')
      return text.startsWith(start) ? text.slice(start.length) : text
    }),
    removesuffix: define('suffix', (text: string, suffix: Argument) => {
      const end = requireText(suffix, 'argument')
      return end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text
    }),
    replace: define('old new count?', (text: string, old: Argument, now: Argument, count: Argument) =>
      replaced(text, requireText(old, 'argument 1'), requireText(now, 'argument 2'), requireInteger(count, -1)),
    ),
    rfind: define('sub start? end?', (text: string, sub: Argument, start: Argument, end: Argument) =>
      position(text, sub, [start, end], true),
    ),
    rindex: define('sub start? end?', (text: string, sub: Argument, start: Argument, end: Argument) =>
      found(position(text, sub, [start, end], true)),
    ),
    rjust: aligned('>'),
    rpartition: partitioning(true),
    rsplit: splitting(true),
    rstrip: stripping('right'),
    split: splitting(false),
    splitlines: define('keepends?', (text: string, keep: Argument) =>
      keptParts(splitLines(text, isTrue(keep ?? false))),
    ),
    startswith: isAffix((text, prefix) => text.startsWith(prefix)),
    strip: stripping('both'),
    swapcase: simple((text) =>
      Array.from(text, (each) => (isLowerText(each) ? each.toUpperCase() : each.toLowerCase())).join(''),
    ),
    title: simple(titledWords),
    upper: simple((text) => text.toUpperCase()),
    zfill: define('width', (text: string, width: Argument) => {
      const sign = /^[-+]/.exec(text)?.[0] ?? ''
      const size = requireInteger(width, 0) - sign.length
      return sign + pad(text.slice(sign.length), {fill: '0', width: size, align: '>'})
    }),
  }),
)

const listMethods: ReadonlyMap<string, Method<readonly Value[]>> = new Map(
  Object.entries<Method<readonly Value[]>>({
    count: define(
      'value',
      (list: readonly Value[], value: Value) => list.filter((each) => isEqual(each, value)).length,
    ),
    index: define('value start? stop?', (list: readonly Value[], value: Value, start: Argument, stop: Argument) => {
      const bound = (given: Argument, missing: number) => {
        const at = requireInteger(given, missing)
        return at < 0 ? Math.max(0, at + list.length) : at
      }
      const [from, to] = [bound(start, 0), bound(stop, list.length)]
      const at = list.findIndex((each, i) => i >= from && i < to && isEqual(each, value))
      if (at === -1) throw new TemplateError(`${textOf(value)} is not in list`)
      return at
    }),
  }),
)
const copyList: Method<readonly Value[]> = define('', (list: readonly Value[]) => [...iterate(list as Value[])])

const dictMethods: ReadonlyMap<string, Method<Dict>> = new Map(
  Object.entries<Method<Dict>>({
    copy: define('', (dict: Dict) => Dict.of(dict.entries())),
    get: define('key default?', (dict: Dict, key: Value, fallback: Argument) => dict.get(key) ?? fallback ?? none),
    items: define(
      '',
      (dict: Dict) =>
        new View(
          'dict_items',
          dict.entries().map((entry) => toTuple(entry)),
        ),
    ),
    keys: define('', (dict: Dict) => new View('dict_keys', dict.keys())),
    values: define(
      '',
      (dict: Dict) =>
        new View(
          'dict_values',
          dict.entries().map(([, value]) => value),
        ),
    ),
  }),
)

/** Methods that change their value, which templates must not do. */
const mutators: Readonly<Record<string, ReadonlySet<string>>> = {
  list: new Set(['append', 'clear', 'extend', 'insert', 'pop', 'remove', 'reverse', 'sort']),
  dict: new Set(['clear', 'pop', 'popitem', 'setdefault', 'update']),
}

/** `value.name`: an attribute, or the item of that name. Methods of a dictionary hide its items. */
export function attributeOf(value: Value, name: string): Value {
  if (value instanceof Undefined) value.fail()
  return (
    ownAttribute(value, name) ?? (value instanceof Dict ? value.get(name) : undefined) ?? missingAttribute(value, name)
  )
}

/** `value[key]`: the item, or else the attribute of that name. */
export function itemOf(value: Value, key: Value): Value {
  if (value instanceof Undefined) value.fail()
  const item = ownItem(value, key)
  if (item !== undefined) return item
  if (typeof key === 'string') return ownAttribute(value, key) ?? missingAttribute(value, key)
  return new Undefined(`${describe(value)} has no element ${textOf(key)}`)
}

function ownItem(value: Value, key: Value): Value | undefined {
  if (value instanceof Dict) return Array.isArray(key) || key instanceof Dict ? undefined : value.get(key)
  const index = typeof key === 'boolean' ? Number(key) : key
  if (typeof index !== 'number') return undefined
  if (value instanceof Range) return value.at(index)
  if (typeof value !== 'string' && !Array.isArray(value)) return undefined
  budget.read(value)
  const items = typeof value === 'string' ? characters(value) : value
  return items[index < 0 ? index + items.length : index]
}

/** The attribute in the sense of Python's `getattr`; undefined if there is none. */
export function ownAttribute(value: Value, name: string): Value | undefined {
  const type = typeName(value)
  const isInternal = name.startsWith('__') && name.endsWith('__') && (internals.has(name) || type === 'function')
  if (isInternal || mutators[type]?.has(name))
    return new Undefined(`access to attribute '${name}' of '${type}' object is unsafe.`)
  if (typeof value === 'string') return name === 'format' ? formatMethod(value) : method(textMethods, name, value)
  if (value instanceof Dict) return method(dictMethods, name, value)
  if (Array.isArray(value)) {
    if (value instanceof Group && name === 'grouper') return value[0]
    if (value instanceof Group && name === 'list') return value[1]
    if (name === 'copy' && type === 'list') return bindMethod(name, copyList, value)
    return method(listMethods, name, value)
  }
  return typeof value === 'object' ? value.attribute(name) : undefined
}

/** Attributes of every Python object. */
const internals = new Set(['__class__', '__doc__', '__dict__', '__init__', '__module__', '__subclasshook__'])

function method<T>(methods: ReadonlyMap<string, Method<T>>, name: string, value: T): Callable | undefined {
  const definition = methods.get(name)
  return definition === undefined ? undefined : bindMethod(name, definition, value)
}

const formatMethod = (text: string) =>
  new Callable('format', (args, named) => formatFields(text, args, named, {attribute: attributeOf, item: itemOf}))
