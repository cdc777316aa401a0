import {
  conversions,
  dateFields,
  durationMs,
  msPerUnit,
  timeFields,
  unknownField,
  writeDateTime,
  writeDuration,
} from '../check/index.js'
import type {Context} from './context.js'
import {Failure} from './failure.js'
import {sized} from './size.js'
import {display, Err, Ok, type Value} from './value.js'

type Args = readonly Value[]
type Builtin = (args: Args, context: Context) => Value

/** ms of a date, which is its midnight, or of a time. */
const msOf = (text: Value): number => Date.parse(text as string)

function dateTimeOf(ms: number): string {
  const text = writeDateTime(ms)
  if (text === undefined) throw new Failure('INT_OVERFLOW', 'the result is outside the years 1 to 9999')
  return text
}

const dateOf = (ms: number): string => dateTimeOf(ms).slice(0, 10)

function durationOf(ms: number): string {
  const text = writeDuration(ms)
  if (text === undefined) throw new Failure('INT_OVERFLOW', 'the duration is too long')
  return text
}

/** Converts text; times are also made of dates and Unix ms, and dates of times. */
function convert(name: string, value: Value): string {
  const {read, example} = conversions[name] as (typeof conversions)[string]
  if (name === 'DateTime' && typeof value === 'number') return dateTimeOf(value)
  const text = typeof value === 'string' ? value.trim() : ''
  const other =
    name === 'Date' ? conversions.DateTime?.read(text)?.slice(0, 10) : name === 'DateTime' ? midnight(text) : undefined
  const found = read(text) ?? other
  if (found === undefined) throw new Failure('CONVERSION', `${display(value)} is not a ${name} such as ${example}`)
  return found
}

function midnight(text: string): string | undefined {
  const date = conversions.Date?.read(text)
  return date === undefined ? undefined : dateTimeOf(msOf(date))
}

const parsed =
  (name: string): Builtin =>
  ([value]) => {
    const {read, example} = conversions[name] as (typeof conversions)[string]
    const found = read(String(value).trim())
    return found === undefined ? new Err(`${display(value)} is not a ${name} such as ${example}`) : new Ok(found)
  }

const ofUnit =
  (ms: number): Builtin =>
  ([count]) =>
    durationOf(Math.round(Number(count) * ms))

function dateOfParts([year, month, day]: Args): string {
  const text = [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join('-')
  const found = conversions.Date?.read(text)
  if (found === undefined) throw new Failure('CONVERSION', `there is no date ${text}`)
  return found
}

/** A date plus a duration, which must be a number of days. */
function movedDate(date: Value, ms: number): string {
  if (ms % msPerUnit.days !== 0)
    throw new Failure('CONVERSION', `${durationOf(ms)} is no number of days; use .at(0) to get a DateTime`)
  return dateOf(msOf(date) + ms)
}

const nonZero = (divisor: number): number => {
  if (divisor === 0) throw new Failure('DIVISION_BY_ZERO', 'division by zero')
  return divisor
}

const ms = (value: Value): number => durationMs(value as string)

/** Functions, and the operators as `timeArithmetic` of the checker names them. */
export const timeBuiltins: Readonly<Record<string, Builtin>> = {
  Date: ([value]) => convert('Date', value),
  DateTime: ([value]) => convert('DateTime', value),
  Duration: ([value]) => convert('Duration', value),
  'Date.today': (_, context) => context.once(() => dateOf(Date.now())),
  'Date.of': dateOfParts,
  'Date.parse': parsed('Date'),
  'DateTime.now': (_, context) => context.once(() => dateTimeOf(Date.now())),
  'DateTime.parse': parsed('DateTime'),
  'Duration.parse': parsed('Duration'),
  'Duration.days': ofUnit(msPerUnit.days),
  'Duration.hours': ofUnit(msPerUnit.hours),
  'Duration.minutes': ofUnit(msPerUnit.minutes),
  'Duration.seconds': ofUnit(msPerUnit.seconds),
  'Duration.milliseconds': ofUnit(1),
  'date + duration': ([a, b]) => movedDate(a, ms(b)),
  'date - duration': ([a, b]) => movedDate(a, -ms(b)),
  'date - date': ([a, b]) => durationOf(msOf(a) - msOf(b)),
  'datetime + duration': ([a, b]) => dateTimeOf(msOf(a) + ms(b)),
  'datetime - duration': ([a, b]) => dateTimeOf(msOf(a) - ms(b)),
  'datetime - datetime': ([a, b]) => durationOf(msOf(a) - msOf(b)),
  'duration + duration': ([a, b]) => addDurations(a, b),
  'duration - duration': ([a, b]) => durationOf(ms(a) - ms(b)),
  'duration * number': ([a, b]) => durationOf(Math.round(ms(a) * Number(b))),
  'duration / number': ([a, b]) => durationOf(Math.round(ms(a) / nonZero(Number(b)))),
  'duration / duration': ([a, b]) => ms(a) / nonZero(ms(b)),
}

export const addDurations = (a: Value, b: Value): string => durationOf(ms(a) + ms(b))

/** The mean, rounded to ms. Not of an empty list. */
export const averageDurations = (items: readonly Value[]): string =>
  durationOf(Math.round(items.reduce<number>((total, item) => total + ms(item), 0) / items.length))

type Part = (at: Date) => number

const weekday: Part = (at) => at.getUTCDay() || 7
const yearStart = (year: number): number => new Date(0).setUTCFullYear(year, 0, 1)
const dayOfYear: Part = (at) => Math.floor((at.getTime() - yearStart(at.getUTCFullYear())) / msPerUnit.days) + 1
/** The Thursday of the same week, whose year is that of the week. Source: ISO 8601. */
const thursday = (at: Date) => new Date(at.getTime() + (4 - weekday(at)) * msPerUnit.days)
const week: Part = (at) => Math.ceil(dayOfYear(thursday(at)) / 7)

const parts: Readonly<Record<string, Part>> = {
  year: (at) => at.getUTCFullYear(),
  month: (at) => at.getUTCMonth() + 1,
  day: (at) => at.getUTCDate(),
  weekday,
  day_of_year: dayOfYear,
  week,
  hour: (at) => at.getUTCHours(),
  minute: (at) => at.getUTCMinutes(),
  second: (at) => at.getUTCSeconds(),
  millisecond: (at) => at.getUTCMilliseconds(),
}

const partMethods: Readonly<Record<string, (self: string) => Value>> = Object.fromEntries(
  Object.entries(parts).map(([name, part]) => [name, (self: string) => part(new Date(self))]),
)

/** The same day of another month, or the last day of it. */
function addMonths(text: string, count: number): number {
  const at = new Date(text)
  const first = new Date(at)
  first.setUTCDate(1)
  first.setUTCMonth(first.getUTCMonth() + count)
  const next = new Date(first)
  next.setUTCMonth(next.getUTCMonth() + 1)
  const days = Math.round((next.getTime() - first.getTime()) / msPerUnit.days)
  return first.getTime() + (Math.min(at.getUTCDate(), days) - 1) * msPerUnit.days
}

/** The beginning of the unit that contains a time. */
function startOf(text: string, [unit]: Args): number {
  const at = new Date(text)
  const ms = at.getTime()
  const dayMs = ms - (((ms % msPerUnit.days) + msPerUnit.days) % msPerUnit.days)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  const monthMs = (first: number) => new Date(yearStart(year)).setUTCMonth(first)
  switch (unit) {
    case 'minute':
      return at.setUTCSeconds(0, 0)
    case 'hour':
      return at.setUTCMinutes(0, 0, 0)
    case 'day':
      return dayMs
    case 'week':
      return dayMs - (weekday(at) - 1) * msPerUnit.days
    case 'month':
      return monthMs(month)
    case 'quarter':
      return monthMs(month - (month % 3))
    case 'year':
      return monthMs(0)
    default:
      throw new Failure('CONVERSION', `${display(unit)} is no unit of time`)
  }
}

const monthNames = 'January February March April May June July August September October November December'.split(' ')
const dayNames = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')
const digits = (value: number, count: number) => String(value).padStart(count, '0')

/** The fields of a format, in English. Source: strftime of POSIX, and `%L`, ms. */
const fields: Readonly<Record<string, (at: Date) => string>> = {
  Y: (at) => digits(at.getUTCFullYear(), 4),
  m: (at) => digits(at.getUTCMonth() + 1, 2),
  d: (at) => digits(at.getUTCDate(), 2),
  j: (at) => digits(dayOfYear(at), 3),
  u: (at) => String(weekday(at)),
  a: (at) => (dayNames[weekday(at) - 1] ?? '').slice(0, 3),
  A: (at) => dayNames[weekday(at) - 1] ?? '',
  b: (at) => (monthNames[at.getUTCMonth()] ?? '').slice(0, 3),
  B: (at) => monthNames[at.getUTCMonth()] ?? '',
  G: (at) => digits(thursday(at).getUTCFullYear(), 4),
  V: (at) => digits(week(at), 2),
  H: (at) => digits(at.getUTCHours(), 2),
  M: (at) => digits(at.getUTCMinutes(), 2),
  S: (at) => digits(at.getUTCSeconds(), 2),
  L: (at) => digits(at.getUTCMilliseconds(), 3),
  '%': () => '%',
}

const formatter =
  (allowed: string) =>
  (self: string, [format]: Args): string => {
    const text = String(format)
    const unknown = unknownField(text, allowed)
    if (unknown !== undefined) throw new Failure('CONVERSION', `a format has no field %${unknown}`)
    const at = new Date(self)
    return sized(text.replace(/%(.)/gsu, (_, field: string) => fields[field]?.(at) ?? ''))
  }

type TimeMethod = (self: string, args: Args) => Value

const moving = (write: (ms: number) => string): Readonly<Record<string, TimeMethod>> => ({
  add_days: (self, [count]) => write(msOf(self) + Number(count) * msPerUnit.days),
  add_months: (self, [count]) => write(addMonths(self, Number(count))),
  add_years: (self, [count]) => write(addMonths(self, Number(count) * 12)),
  start_of: (self, args) => write(startOf(self, args)),
})

function atTime(self: string, [hour, minute = 0, second = 0]: Args): string {
  const isTime = [hour, minute, second].every((part, i) => Number(part) >= 0 && Number(part) < (i === 0 ? 24 : 60))
  if (!isTime) throw new Failure('CONVERSION', `there is no time ${[hour, minute, second].map(display).join(':')}`)
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  return dateTimeOf(msOf(self) + seconds * msPerUnit.seconds)
}

const inUnit =
  (unit: number): TimeMethod =>
  (self) =>
    ms(self) / unit

export const timeMethods: Readonly<Record<'date' | 'datetime' | 'duration', Readonly<Record<string, TimeMethod>>>> = {
  date: {...partMethods, ...moving(dateOf), at: atTime, format: formatter(dateFields)},
  datetime: {
    ...partMethods,
    ...moving(dateTimeOf),
    date: (self) => self.slice(0, 10),
    to_ms: msOf,
    format: formatter(dateFields + timeFields),
  },
  duration: {
    days: inUnit(msPerUnit.days),
    hours: inUnit(msPerUnit.hours),
    minutes: inUnit(msPerUnit.minutes),
    seconds: inUnit(msPerUnit.seconds),
    milliseconds: ms,
    abs: (self) => durationOf(Math.abs(ms(self))),
  },
}
