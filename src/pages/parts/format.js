/** Formatting of numbers and times. */

const numberFormat = new Intl.NumberFormat('en')
export const timeFormat = new Intl.DateTimeFormat(undefined, {timeStyle: 'medium'})
export const dateFormat = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'medium'})
export const number = (value) => numberFormat.format(value)
export const count = (value, word) => `${number(value)} ${word}${value === 1 ? '' : 's'}`

/** A size in memory: 512 MB, 1.5 GB. */
export const bytes = (size) =>
  size < 1e9 ? `${number(Math.ceil(size / 1e6))} MB` : `${number(Math.round(size / 1e8) / 10)} GB`

/** Formats a duration with its two largest units: 3 d 2 h, 2 h 4 min, 1 min 5 s, 12 s. */
export function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const parts = [
    [Math.floor(seconds / 86400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([value]) => value > 0)
  if (first === -1) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ')
}

/** Formats how long something took, which may be less than a second. */
export const elapsed = (ms) => (ms < 1000 ? `${ms} ms` : duration(ms))

/** Time of the server and monotonic time of the page when that was set, ms. */
let clock = {at: Date.now(), since: performance.now()}
export function setClock(unixMs) {
  clock = {at: unixMs, since: performance.now()}
}
export const now = () => clock.at + performance.now() - clock.since
export const ago = (ms) => (now() - ms < 1500 ? 'just now' : `${duration(now() - ms)} ago`)
export const until = (ms) => (ms <= now() ? 'expired' : duration(ms - now()))
