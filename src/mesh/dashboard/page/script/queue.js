/** Statistics of pending messages. */
import {byId, element, fill, setHidden, setText} from '../../../../pages/parts/elements.js'
import {number} from '../../../../pages/parts/format.js'
import {openPart} from './table.js'

const maxBars = 12

function showBars(id, entries) {
  const shown = entries.slice(0, maxBars)
  const rest = entries.slice(maxBars).reduce((sum, [, size]) => sum + size, 0)
  const all = rest === 0 ? shown : [...shown, ['others', rest]]
  const max = Math.max(...all.map(([, size]) => size))
  setHidden(byId(id), all.length === 0)
  fill(byId(id).querySelector('ul'), all, () =>
    all.map(([name, size]) => {
      const bar = element('i', {ariaHidden: 'true'})
      bar.style.width = `${(100 * size) / max}%`
      return element('li', {}, bar, element('span', {}, name), element('span', {}, number(size)))
    }),
  )
}

export function showQueue(part) {
  const isEmpty = ({pending_by_kind: kinds, pending_count: size}) => size === 0 && Object.keys(kinds).length === 0
  const known = openPart('queue', part, isEmpty)
  const {
    pending_count: size,
    dead_count: dead,
    pending_by_kind: kinds = {},
    pending_by_priority: priorities = {},
  } = known ?? {}
  showBars(
    'by-kind',
    Object.entries(kinds).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)),
  )
  showBars(
    'by-priority',
    Object.entries(priorities).sort(([a], [b]) => b - a),
  )
  setText(byId('waiting-figure'), size === undefined ? '–' : number(size))
  setText(byId('dead-figure'), dead === undefined ? '–' : number(dead))
  byId('dead-figure')
    .closest('.tile')
    .classList.toggle('alarm', dead > 0)
  const note = part?.denied === undefined ? '' : 'not allowed'
  setText(byId('waiting-note'), note)
  setText(byId('dead-note'), dead > 0 ? 'never acknowledged' : note)
}
