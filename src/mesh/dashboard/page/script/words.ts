/** Numbers and times in words. */
export const words = `
const numberFormat = new Intl.NumberFormat('en')
const timeFormat = new Intl.DateTimeFormat(undefined, {timeStyle: 'medium'})
const dateFormat = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'medium'})
const number = (value) => numberFormat.format(value)
const count = (value, word) => number(value) + ' ' + word + (value === 1 ? '' : 's')

/** The two largest units of a time: 3 d 2 h, 2 h 4 min, 1 min 5 s, 12 s. */
function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const parts = [
    [Math.floor(seconds / 86400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([value]) => value > 0)
  if (first === -1) return '0 s'
  return parts.slice(first, first + 2).filter(([value]) => value > 0).map(([value, unit]) => value + ' ' + unit).join(' ')
}

/** Time of the control plane when the state came, and the time of the page then. */
let clock = {at: 0, since: 0}
const now = () => clock.at + performance.now() - clock.since
const ago = (ms) => (now() - ms < 1500 ? 'just now' : duration(now() - ms) + ' ago')
const until = (ms) => (ms <= now() ? 'over' : duration(ms - now()))
const conditionWords = {quarantined: 'Quarantine', maintenance: 'Maintenance', stale: 'Stale'}
`
