import {budget, TemplateError} from './budget.js'
import {compare, isEqual} from './comparison.js'
import {type Argument, type Definition, define, requireInteger, requireText} from './definition.js'
import {toJson} from './json.js'
import {centred, itemOf, joinedTexts, optionalText, ownAttribute, replaced} from './methods.js'
import {fileSize, parseFloating, round, toInteger} from './number-filters.js'
import {arithmetic, negated} from './operators.js'
import {capitalized, splitLines, splitWords, strip, textLength} from './text.js'
import {
  Dict,
  Float,
  Generator,
  Group,
  isIterable,
  isTrue,
  iterate,
  lengthOf,
  missingAttribute,
  none,
  numberOf,
  Range,
  Tuple,
  textOf,
  toTuple,
  typeName,
  Undefined,
  type Value,
} from './values.js'

type Filter = Definition<readonly [Value]>

const text = (run: (text: string) => Value): Filter => define('', (value: Value) => run(textOf(value)))

/** Reads an attribute path such as `function.name` or `0`; the value itself without one. */
export function reader(attribute: Argument, fallback?: Value): (value: Value) => Value {
  if (attribute === undefined || attribute === none) return (value) => value
  const path =
    typeof attribute === 'string'
      ? attribute.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key))
      : [attribute]
  return (value) =>
    path.reduce<Value>((found, key) => {
      const item = itemOf(found, key)
      return item instanceof Undefined && fallback !== undefined ? fallback : item
    }, value)
}

/** The key that values are compared by: letters of both cases are equal by default. */
function comparable(caseSensitive: Argument, attribute?: Argument, fallback?: Value): (value: Value) => Value {
  const read = reader(attribute, fallback)
  return (value) => {
    const key = read(value)
    budget.read(key)
    return typeof key === 'string' && !isTrue(caseSensitive ?? false) ? key.toLowerCase() : key
  }
}

function sorted(values: readonly Value[], key: (value: Value) => Value, reverse: Argument): Value[] {
  budget.spend(values.length * Math.ceil(Math.log2(values.length + 1)))
  const direction = isTrue(reverse ?? false) ? -1 : 1
  return values
    .map((value) => ({value, key: key(value)}))
    .sort((a, b) => direction * compare(a.key, b.key))
    .map(({value}) => value)
}

/** Sorts by several attributes, separated by commas. */
function sortKeys(attribute: Argument, caseSensitive: Argument): (value: Value) => Value {
  if (typeof attribute !== 'string' || !attribute.includes(',')) return comparable(caseSensitive, attribute)
  const keys = attribute.split(',').map((each) => comparable(caseSensitive, each))
  return (value) => keys.map((key) => key(value))
}

const extreme = (sign: 1 | -1): Filter =>
  define('case_sensitive? attribute?', (value: Value, caseSensitive: Argument, attribute: Argument) => {
    const key = comparable(caseSensitive, attribute)
    let best: Value | undefined
    for (const each of iterate(value)) if (best === undefined || sign * compare(key(each), key(best)) < 0) best = each
    return best ?? new Undefined('No aggregated item, sequence was empty.')
  })

function truncate(value: string, length: number, killWords: boolean, end: string): string {
  const cut = Array.from(value)
    .slice(0, length - textLength(end))
    .join('')
  if (killWords) return cut + end
  const at = cut.lastIndexOf(' ')
  return (at === -1 ? cut : cut.slice(0, at)) + end
}

function spaces(count: number): string {
  const length = Math.max(0, count)
  budget.create(length)
  return ' '.repeat(length)
}

function indent(value: string, width: Argument, first: Argument, blank: Argument): string {
  const unit = typeof width === 'string' ? width : spaces(requireInteger(width, 4))
  const lines = splitLines(`${value}\n`)
  const indented = lines.map((line, i) => (i > 0 && (line !== '' || isTrue(blank ?? false)) ? unit + line : line))
  return joinedTexts([...(isTrue(first ?? false) ? [unit] : []), joinedTexts(indented, '\n')], '')
}

/** Python's `urllib.parse.quote`. */
const urlQuoted = (value: string, safe: string) =>
  encodeURIComponent(value)
    .replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', safe)

function urlEncode(value: Value): string {
  if (typeof value === 'string' || !isIterable(value)) return urlQuoted(textOf(value), '/')
  const pairs = value instanceof Dict ? value.entries() : [...iterate(value)].map((pair) => [...iterate(pair)])
  const written = pairs.map((pair) => {
    if (pair.length !== 2) throw new TemplateError('urlencode needs pairs of name and value')
    return joinedTexts(
      pair.map((each) => urlQuoted(textOf(each), '%2F').replaceAll('%20', '+')),
      '=',
    )
  })
  return joinedTexts(written, '&')
}

const escaped = (value: string) =>
  value.replaceAll(
    /[&<>"']/g,
    (each) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;'})[each] as string,
  )

/** Removes the parts between two marks, and the marks. An unclosed part stays. */
function withoutParts(value: string, open: string, close: string): string {
  let [kept, at] = ['', 0]
  for (;;) {
    const start = value.indexOf(open, at)
    const end = start === -1 ? -1 : value.indexOf(close, start)
    if (end === -1) return kept + value.slice(at)
    kept += value.slice(at, start)
    at = end + close.length
  }
}

const stripTags = (value: string) =>
  splitWords(withoutParts(withoutParts(value, '<!--', '-->'), '<', '>'), -1, false).join(' ')

function group(values: Value, attribute: Argument, fallback: Argument, caseSensitive: Argument): Value[] {
  const key = comparable(caseSensitive, attribute, fallback)
  const read = reader(attribute, fallback)
  const groups: {key: Value; values: Value[]}[] = []
  for (const value of sorted([...iterate(values)], key, false)) {
    const last = groups.at(-1)
    if (last !== undefined && isEqual(last.key, key(value))) last.values.push(value)
    else groups.push({key: key(value), values: [value]})
  }
  return groups.map(({values: members}) => toTuple([read(members[0] as Value), members], new Group()))
}

function batch(values: Value, size: number, fill: Argument): Value[] {
  if (size < 1) throw new TemplateError('batch needs a positive size')
  const all = [...iterate(values)]
  const found = Array.from({length: Math.ceil(all.length / size)}, (_, i) => all.slice(i * size, (i + 1) * size))
  const last = found.at(-1)
  if (last !== undefined && fill !== undefined && fill !== none) {
    budget.spend(size)
    while (last.length < size) last.push(fill)
  }
  return found
}

function divide(values: Value, count: number, fill: Argument): Value[] {
  const all = [...iterate(values)]
  if (count < 1) throw new TemplateError('integer division or modulo by zero')
  budget.spend(count)
  const size = Math.floor(all.length / count)
  const extra = all.length % count
  return Array.from({length: count}, (_, i) => {
    const part = all.slice(i * size + Math.min(i, extra), (i + 1) * size + Math.min(i + 1, extra))
    return fill !== undefined && fill !== none && i >= extra ? [...part, fill] : part
  })
}

export function* filterValues(values: Value, accept: (value: Value) => boolean): Iterable<Value> & Iterator<Value> {
  for (const value of iterate(values)) if (accept(value)) yield value
}

function unique(values: Value, caseSensitive: Argument, attribute: Argument): Value {
  const key = comparable(caseSensitive, attribute)
  const seen = new Dict()
  const isNew = (value: Value) => {
    const id = key(value)
    const hashable = id instanceof Tuple ? textOf(id) : id
    if (seen.has(hashable)) return false
    seen.set(hashable, true)
    return true
  }
  return new Generator(filterValues(values, isNew))
}

function reverse(value: Value): Value {
  if (typeof value === 'string') return Array.from(value).reverse().join('')
  const type = value instanceof Range ? 'range_iterator' : `${typeName(value)}_reverseiterator`
  return new Generator([...iterate(value)].reverse(), type)
}

function first(value: Value): Value {
  for (const each of iterate(value)) return each
  return new Undefined('No first item, sequence was empty.')
}

function last(value: Value): Value {
  if (value instanceof Generator) throw new TemplateError(`'${value.type}' object is not reversible`)
  return [...iterate(value)].at(-1) ?? new Undefined('No last item, sequence was empty.')
}

function sum(values: Value, attribute: Argument, start: Argument): Value {
  const read = reader(attribute)
  let total: Value = start ?? 0
  for (const value of iterate(values)) total = arithmetic('+', total, read(value))
  return total
}

function json(value: Value, asciiOnly: Argument, indentation: Argument, separators: Argument, sort: Argument): string {
  const isLine = indentation === undefined || indentation === none
  const [item, key] =
    separators === undefined || separators === none ? [isLine ? ', ' : ',', ': '] : [...iterate(separators)]
  return toJson(value, {
    asciiOnly: isTrue(asciiOnly ?? false),
    indent: isLine ? undefined : typeof indentation === 'string' ? indentation : spaces(requireInteger(indentation, 0)),
    separators: [requireText(item, 'separator'), requireText(key, 'separator')],
    sortKeys: isTrue(sort ?? false),
  })
}

function dictSort(dict: Value, caseSensitive: Argument, by: Argument, reversed: Argument): Value {
  if (!(dict instanceof Dict)) throw new TemplateError(`'${typeName(dict)}' object has no attribute 'items'`)
  const at = ['key', 'value'].indexOf(textOf(by ?? 'key'))
  if (at === -1) throw new TemplateError('You can only sort by either "key" or "value"')
  return sorted(
    dict.entries().map((entry) => toTuple(entry)),
    comparable(caseSensitive, at),
    reversed,
  )
}

const size: Filter = define('', lengthOf)
const fallback: Filter = define('default_value? boolean?', (value: Value, other: Argument, falsy: Argument) =>
  value instanceof Undefined || (isTrue(falsy ?? false) && !isTrue(value)) ? (other ?? '') : value,
)
const escapeFilter = text(escaped)

/** Filters with a fixed list of parameters. */
export const filters: ReadonlyMap<string, Filter> = new Map(
  Object.entries<Filter>({
    abs: define('', (value: Value) => ((numberOf(value) ?? 0) < 0 ? negated(value, -1) : negated(value, 1))),
    attr: define('name', (value: Value, name: Value) => {
      const found = ownAttribute(value, textOf(name))
      return found ?? missingAttribute(value, textOf(name))
    }),
    batch: define(
      'linecount fill_with?',
      (value: Value, count: Argument, fill: Argument) => new Generator(batch(value, requireInteger(count, 1), fill)),
    ),
    capitalize: text(capitalized),
    center: define('width?', (value: Value, width: Argument) => centred(textOf(value), requireInteger(width, 80))),
    count: size,
    d: fallback,
    default: fallback,
    dictsort: define('case_sensitive? by? reverse?', dictSort),
    e: escapeFilter,
    escape: escapeFilter,
    filesizeformat: define('binary?', fileSize),
    first: define('', first),
    float: define('default?', (value: Value, other: Argument) => {
      if (value instanceof Undefined) value.fail()
      const number = typeof value === 'string' ? parseFloating(value) : numberOf(value)
      return number === undefined ? (other ?? new Float(0)) : new Float(number)
    }),
    forceescape: escapeFilter,
    groupby: define('attribute default? case_sensitive?', group),
    indent: define('width? first? blank?', (value: Value, width: Argument, firstLine: Argument, blank: Argument) =>
      indent(requireText(value, 'the text'), width, firstLine, blank),
    ),
    int: define('default? base?', toInteger),
    items: define('', (value: Value) => {
      if (value instanceof Undefined) return new Generator([])
      if (!(value instanceof Dict)) throw new TemplateError('Can only get item pairs from a mapping.')
      return new Generator(value.entries().map((entry) => toTuple(entry)))
    }),
    join: define('d? attribute?', (value: Value, separator: Argument, attribute: Argument) => {
      const read = reader(attribute)
      return joinedTexts(
        [...iterate(value)].map((each) => textOf(read(each))),
        textOf(separator ?? ''),
      )
    }),
    last: define('', last),
    length: size,
    list: define('', (value: Value) => [...iterate(value)]),
    lower: text((value) => value.toLowerCase()),
    max: extreme(-1),
    min: extreme(1),
    replace: define('old new count?', (value: Value, old: Value, now: Value, count: Argument) =>
      replaced(textOf(value), textOf(old), textOf(now), requireInteger(count === none ? undefined : count, -1)),
    ),
    reverse: define('', reverse),
    round: define('precision? method?', round),
    safe: define('', (value: Value) => textOf(value)),
    slice: define(
      'slices fill_with?',
      (value: Value, count: Argument, fill: Argument) => new Generator(divide(value, requireInteger(count, 1), fill)),
    ),
    sort: define(
      'reverse? case_sensitive? attribute?',
      (value: Value, reversed: Argument, caseSensitive: Argument, attribute: Argument) =>
        sorted([...iterate(value)], sortKeys(attribute, caseSensitive), reversed),
    ),
    string: text((value) => value),
    striptags: text(stripTags),
    sum: define('attribute? start?', sum),
    title: text((value) =>
      value
        .split(/([-\s({[<]+)/)
        .filter(Boolean)
        .map((word) => {
          const [head = ''] = word
          return head.toUpperCase() + word.slice(head.length).toLowerCase()
        })
        .join(''),
    ),
    tojson: define('ensure_ascii? indent? separators? sort_keys?', json),
    trim: define('chars?', (value: Value, chars: Argument) =>
      strip(textOf(value), optionalText(chars, 'trim argument'), 'both'),
    ),
    truncate: define(
      'length? killwords? end? leeway?',
      (value: Value, length: Argument, kill: Argument, end: Argument, leeway: Argument) => {
        const [max, more] = [requireInteger(length, 255), requireInteger(leeway === none ? undefined : leeway, 5)]
        if (lengthOf(value) <= max + more) return value
        return truncate(requireText(value, 'the text'), max, isTrue(kill ?? false), textOf(end ?? '...'))
      },
    ),
    unique: define('case_sensitive? attribute?', unique),
    upper: text((value) => value.toUpperCase()),
    urlencode: define('', urlEncode),
    wordcount: text((value) => value.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
  }),
)
