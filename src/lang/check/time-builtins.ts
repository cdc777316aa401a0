import {type Signature, takes} from './builtin.js'
import type {Arithmetic, Ir} from './ir.js'
import {readDate, readDateTime, readDuration} from './time-text.js'
import {
  date,
  dateTime,
  duration,
  float,
  int,
  isNumber,
  result,
  show,
  str,
  type TimeKind,
  type Type,
  unknown,
} from './types.js'

/** The types of dates, times and durations by their names, which are also those of their conversions. */
export const timeTypes: ReadonlyMap<string, Type> = new Map([
  ['Date', date],
  ['DateTime', dateTime],
  ['Duration', duration],
])

interface Conversion {
  type: Type
  /** The value of a text; undefined if it has another form. */
  read(text: string): string | undefined
  example: string
  /** What can be converted. */
  accepts: ReadonlySet<Type['kind']>
  needs: string
}

const kinds = (text: string) => new Set(text.split(' ')) as ReadonlySet<Type['kind']>

export const conversions: Readonly<Record<string, Conversion>> = {
  Date: {
    ...{type: date, read: readDate, example: '2024-05-31'},
    ...{accepts: kinds('str date datetime json unknown never'), needs: 'a str or a DateTime'},
  },
  DateTime: {
    ...{type: dateTime, read: readDateTime, example: '2024-05-31T10:00:00Z'},
    ...{accepts: kinds('str int date datetime json unknown never'), needs: 'a str, a Date or Unix ms'},
  },
  Duration: {
    ...{type: duration, read: readDuration, example: 'PT1H30M'},
    ...{accepts: kinds('str duration json unknown never'), needs: 'a str'},
  },
}

export const timeFunctions: Readonly<Record<string, Signature>> = Object.fromEntries(
  Object.entries(conversions).map(([name, {type, accepts, needs}]) => [
    name,
    {
      ...takes([unknown], type),
      fault: ([value]: readonly Ir[]) =>
        value === undefined || accepts.has(value.type.kind) ? undefined : {needs, found: value.type},
    },
  ]),
)

/** A conversion of a literal is that value; undefined for a text of another form. */
export function convertedLiteral(name: string, text: string): Ir | undefined {
  const {read, type} = conversions[name] as Conversion
  const value = read(text)
  return value === undefined ? undefined : {kind: 'const', value, type}
}

export const timeNamespaced: Readonly<Record<string, Signature>> = {
  'Date.today': takes([], date),
  'Date.of': takes([int, int, int], date),
  'Date.parse': takes([str], result(date)),
  'DateTime.now': takes([], dateTime),
  'DateTime.parse': takes([str], result(dateTime)),
  'Duration.parse': takes([str], result(duration)),
  'Duration.days': takes([float], duration),
  'Duration.hours': takes([float], duration),
  'Duration.minutes': takes([float], duration),
  'Duration.seconds': takes([float], duration),
  'Duration.milliseconds': takes([int], duration),
}

/** Units of `start_of`. */
export const timeUnits = {
  date: ['week', 'month', 'quarter', 'year'],
  datetime: ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'],
} as const

/** The fields of `format`, which are those of `strftime`. */
export const dateFields = 'YmdjuaAbBGV'
export const timeFields = 'HMSL'

/** `start_of(unit)`. */
const startOf = (kind: 'date' | 'datetime', type: Type): Signature => ({
  ...takes([str], type),
  fault: ([unit]) => {
    const units: readonly string[] = timeUnits[kind]
    const isKnown = unit?.kind !== 'const' || units.includes(String(unit.value))
    return isKnown ? undefined : {needs: units.join(', '), found: `'${unit.value}'`}
  },
})

/** The first unknown field of a format; undefined if there is none. */
export const unknownField = (format: string, fields: string): string | undefined =>
  [...format.matchAll(/%(.?)/gsu)]
    .map(([, field = '']) => field)
    .find((field) => field === '' || !`${fields}%`.includes(field))

const formatted = (fields: string): Signature => ({
  ...takes([str], str),
  fault: ([format]) => {
    const field = format?.kind === 'const' ? unknownField(String(format.value), fields) : undefined
    return field === undefined
      ? undefined
      : {needs: `the fields ${[...fields].map((each) => `%${each}`).join(' ')}`, found: `%${field}`}
  },
})

const parts = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, () => takes([], int)]))
const moved = (type: Type) =>
  Object.fromEntries(['add_days', 'add_months', 'add_years'].map((name) => [name, () => takes([int], type)]))

type Methods = Readonly<Record<string, (receiver: Type) => Signature>>

export const timeMethods: Readonly<Record<TimeKind, Methods>> = {
  date: {
    ...parts('year month day weekday day_of_year week'),
    ...moved(date),
    start_of: () => startOf('date', date),
    at: () => takes([int, int, int], dateTime, 2),
    format: () => formatted(dateFields),
  },
  datetime: {
    ...parts('year month day weekday day_of_year week hour minute second millisecond'),
    ...moved(dateTime),
    date: () => takes([], date),
    to_ms: () => takes([], int),
    start_of: () => startOf('datetime', dateTime),
    format: () => formatted(dateFields + timeFields),
  },
  duration: {
    days: () => takes([], float),
    hours: () => takes([], float),
    minutes: () => takes([], float),
    seconds: () => takes([], float),
    milliseconds: () => takes([], int),
    abs: () => takes([], duration),
  },
}

/** The results of arithmetic with dates, times and durations. */
const sums: Readonly<Record<string, Type>> = {
  'date + duration': date,
  'date - duration': date,
  'date - date': duration,
  'datetime + duration': dateTime,
  'datetime - duration': dateTime,
  'datetime - datetime': duration,
  'duration + duration': duration,
  'duration - duration': duration,
  'duration * number': duration,
  'duration / number': duration,
  'duration / duration': float,
}

const operandOf = (type: Type): string => (isNumber(type) && type.kind !== 'id' ? 'number' : type.kind)

/** Arithmetic of which an operand is a date, a time or a duration; undefined if there is no such operation. */
export function timeArithmetic(operator: Arithmetic, left: Ir, right: Ir): Ir | undefined {
  const [a, b] = [operandOf(left.type), operandOf(right.type)]
  const name = `${a} ${operator} ${b}`
  const swapped = `${b} ${operator} ${a}`
  if (Object.hasOwn(sums, name)) return {kind: 'builtin', name, args: [left, right], type: sums[name] as Type}
  const commutes = (operator === '+' || operator === '*') && Object.hasOwn(sums, swapped)
  return commutes ? {kind: 'builtin', name: swapped, args: [right, left], type: sums[swapped] as Type} : undefined
}

/** What to write instead of an operation that does not exist. */
export function timeHint(a: Type, b: Type): string | undefined {
  const pair = [a.kind, b.kind]
  const time = [a, b].find(({kind}) => kind === 'date' || kind === 'datetime' || kind === 'duration')
  if (time === undefined) return undefined
  if (pair.includes('str')) {
    const name = show(time)
    return `Convert the text: ${name}("${conversions[name]?.example}").`
  }
  if (pair.includes('date') && pair.includes('datetime')) return 'Use .date() of the DateTime, or .at(0) of the Date.'
  if (pair.includes('int') || pair.includes('float')) return 'Use a Duration, such as Duration.days(7).'
  return undefined
}
