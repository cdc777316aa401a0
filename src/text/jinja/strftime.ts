const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

const dayMs = 86_400_000

/** Day of the year from 0. */
const yearDay = (date: Date) =>
  Math.round(
    (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0, 1)) / dayMs,
  )

/** ISO 8601: the week of a date belongs to the year of its Thursday. */
function isoWeek(date: Date): {year: number; week: number} {
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 4 - (date.getDay() || 7))
  return {year: thursday.getFullYear(), week: Math.floor(yearDay(thursday) / 7) + 1}
}

interface Field {
  value: string | number
  /** Digits of a number. */
  width?: number
  fill?: string
}

/** The fields of Python's `strftime` in the C locale. A local time without a zone, so `%z` and `%Z` are empty. */
const fields: Readonly<Record<string, (date: Date) => Field | string>> = {
  a: (date) => ({value: (weekdays[date.getDay()] as string).slice(0, 3)}),
  A: (date) => ({value: weekdays[date.getDay()] as string}),
  b: (date) => ({value: (months[date.getMonth()] as string).slice(0, 3)}),
  B: (date) => ({value: months[date.getMonth()] as string}),
  c: () => '%a %b %e %H:%M:%S %Y',
  C: (date) => ({value: Math.floor(date.getFullYear() / 100), width: 2}),
  d: (date) => ({value: date.getDate(), width: 2}),
  D: () => '%m/%d/%y',
  e: (date) => ({value: date.getDate(), width: 2, fill: ' '}),
  f: (date) => ({value: date.getMilliseconds() * 1000, width: 6}),
  F: () => '%Y-%m-%d',
  g: (date) => ({value: isoWeek(date).year % 100, width: 2}),
  G: (date) => ({value: isoWeek(date).year}),
  h: () => '%b',
  H: (date) => ({value: date.getHours(), width: 2}),
  I: (date) => ({value: date.getHours() % 12 || 12, width: 2}),
  j: (date) => ({value: yearDay(date) + 1, width: 3}),
  k: (date) => ({value: date.getHours(), width: 2, fill: ' '}),
  l: (date) => ({value: date.getHours() % 12 || 12, width: 2, fill: ' '}),
  m: (date) => ({value: date.getMonth() + 1, width: 2}),
  M: (date) => ({value: date.getMinutes(), width: 2}),
  n: () => ({value: '\n'}),
  p: (date) => ({value: date.getHours() < 12 ? 'AM' : 'PM'}),
  P: (date) => ({value: date.getHours() < 12 ? 'am' : 'pm'}),
  r: () => '%I:%M:%S %p',
  R: () => '%H:%M',
  s: (date) => ({value: Math.floor(date.getTime() / 1000)}),
  S: (date) => ({value: date.getSeconds(), width: 2}),
  t: () => ({value: '\t'}),
  T: () => '%H:%M:%S',
  u: (date) => ({value: date.getDay() || 7}),
  U: (date) => ({value: Math.floor((yearDay(date) + 7 - date.getDay()) / 7), width: 2}),
  V: (date) => ({value: isoWeek(date).week, width: 2}),
  w: (date) => ({value: date.getDay()}),
  W: (date) => ({value: Math.floor((yearDay(date) + 7 - ((date.getDay() + 6) % 7)) / 7), width: 2}),
  x: () => '%m/%d/%y',
  X: () => '%H:%M:%S',
  y: (date) => ({value: date.getFullYear() % 100, width: 2}),
  Y: (date) => ({value: date.getFullYear()}),
  z: () => ({value: ''}),
  Z: () => ({value: ''}),
  '%': () => ({value: '%'}),
}

/** Formats a local time like Python's `strftime`, always in English. Unknown directives stay as they are. */
export function strftime(date: Date, format: string): string {
  return format.replaceAll(/%([-_0^#]?)(\d*)([a-zA-Z%])/g, (all, flag: string, width: string, letter: string) => {
    const field = Object.hasOwn(fields, letter) ? fields[letter]?.(date) : undefined
    if (field === undefined) return all
    const {value, width: digits = 0, fill = '0'} = typeof field === 'string' ? {value: strftime(date, field)} : field
    const padding = flag === '_' ? ' ' : flag === '0' ? '0' : fill
    const size = Math.min(100, Number(width) || (flag === '-' ? 0 : digits))
    const text = String(value).padStart(size, typeof value === 'number' ? padding : ' ')
    return flag === '^' || (flag === '#' && letter !== 'p')
      ? text.toUpperCase()
      : flag === '#'
        ? text.toLowerCase()
        : text
  })
}
