/**
 * The text of dates, times and durations: ISO 8601, always in UTC. Equal values have equal texts, and the texts of dates
 * and times sort like the values. `Date` of JavaScript knows the calendar; nothing here depends on the time zone of the
 * machine, so a date library would add only size.
 */

const dateForm = /^\d{4}-\d\d-\d\d$/
const dateTimeForm = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d):?(\d\d))$/
const durationForm = /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,9}))?S)?)?$/

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
/** ms of a duration in each unit. */
export const msPerUnit = {milliseconds: 1, seconds: second, minutes: minute, hours: hour, days: day} as const

const firstYear = '0001'

/** A date: `2024-05-31`, of the years 0001 to 9999. Undefined if there is no such day. */
export function readDate(text: string): string | undefined {
  if (!dateForm.test(text) || text < firstYear) return undefined
  const at = Date.parse(`${text}T00:00:00.000Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? text : undefined
}

/** A time in UTC with ms: `2024-05-31T10:00:00.000Z`. The text needs an offset or `Z`; further digits are dropped. */
export function readDateTime(text: string): string | undefined {
  const [, date = '', h, m, s = '0', fraction, sign, offsetHours = '0', offsetMinutes = '0'] =
    dateTimeForm.exec(text) ?? []
  const isValid = Number(h) < 24 && Number(m) < 60 && Number(s) < 60
  if (readDate(date) === undefined || !isValid || Number(offsetHours) > 23 || Number(offsetMinutes) > 59)
    return undefined
  const local = Number(h) * hour + Number(m) * minute + Number(s) * second + milliseconds(fraction)
  const offset = Number(offsetHours) * hour + Number(offsetMinutes) * minute
  return writeDateTime(Date.parse(date) + local + (sign === '-' ? offset : -offset))
}

/** A duration: `P1DT2H30M`, with days of 24 hours. Years and months have no fixed length, so there are none. */
export function readDuration(text: string): string | undefined {
  const found = durationForm.exec(text)
  if (found === null || /[PT]$/.test(text)) return undefined
  const [weeks, days, hours, minutes, seconds] = found.slice(2, 7).map((part) => Number(part ?? 0)) as [
    ...[number, number, number, number, number],
  ]
  const ms = (weeks * 7 + days) * day + hours * hour + minutes * minute + seconds * second + milliseconds(found[7])
  return writeDuration(found[1] === '-' ? -ms : ms)
}

const milliseconds = (fraction = ''): number => Number(fraction.slice(0, 3).padEnd(3, '0'))

/** Undefined outside the years 0001 to 9999. */
export function writeDateTime(ms: number): string | undefined {
  if (!(Math.abs(ms) <= 8.64e15)) return undefined
  const text = new Date(ms).toISOString()
  return text.length === 24 && text >= firstYear ? text : undefined
}

/** Undefined if the number of ms is not a safe integer. */
export function writeDuration(ms: number): string | undefined {
  if (!Number.isSafeInteger(ms)) return undefined
  const left = Math.abs(ms)
  const days = Math.floor(left / day)
  const parts = [
    [Math.floor((left % day) / hour), 'H'],
    [Math.floor((left % hour) / minute), 'M'],
    [(left % minute) / second, 'S'],
  ] as const
  const time = parts.map(([count, unit]) => (count === 0 ? '' : `${count}${unit}`)).join('')
  if (left === 0) return 'PT0S'
  return `${ms < 0 ? '-' : ''}P${days === 0 ? '' : `${days}D`}${time === '' ? '' : `T${time}`}`
}

/** The ms of a duration in its own text. */
export function durationMs(text: string): number {
  const [, sign, , days, hours, minutes, seconds, fraction] = durationForm.exec(text) ?? []
  const whole = Number(days ?? 0) * day + Number(hours ?? 0) * hour + Number(minutes ?? 0) * minute
  const ms = whole + Number(seconds ?? 0) * second + milliseconds(fraction)
  return sign === '-' ? -ms : ms
}
