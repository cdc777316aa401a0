/** Statistics of pending messages. */
import {byId, element, fill, setHidden, setText} from '../../../../pages/parts/elements.js'
import {number} from '../../../../pages/parts/format.js'
import {createPart} from './part.js'

const maxBars = 12

const byKind = bars('by-kind', 'By kind')
const byPriority = bars('by-priority', 'By priority, highest first')
const none = element(
  'div',
  {className: 'empty'},
  element('p', {className: 'lead'}, 'No pending messages.'),
  element('p', {}, 'To send one, run:'),
  element('p', {}, element('code', {}, 'svc mesh deliver')),
)
const showPart = createPart(
  'queue',
  element('div', {className: 'panel'}, none, element('div', {className: 'lists'}, byKind.element, byPriority.element)),
  'Reading the queue requires a worker, admin or mesh token.',
)

/** A list of sizes with a bar for each. */
function bars(id, title) {
  const list = element('ul', {className: 'bars'})
  const whole = element('div', {id, hidden: true}, element('h3', {}, title), list)
  return {
    element: whole,
    show(entries) {
      const shown = entries.slice(0, maxBars)
      const rest = entries.slice(maxBars).reduce((sum, [, size]) => sum + size, 0)
      const all = rest === 0 ? shown : [...shown, ['others', rest]]
      const max = Math.max(...all.map(([, size]) => size))
      setHidden(whole, all.length === 0)
      fill(list, all, () =>
        all.map(([name, size]) => {
          const bar = element('i', {ariaHidden: 'true'})
          bar.style.width = `${(100 * size) / max}%`
          return element('li', {}, bar, element('span', {}, name), element('span', {}, number(size)))
        }),
      )
    },
  }
}

export function showQueue(part) {
  const {
    pending_count: size,
    dead_count: dead,
    pending_by_kind: kinds = {},
    pending_by_priority: priorities = {},
  } = showPart(part) ?? {}
  setHidden(none, size !== 0 || Object.keys(kinds).length > 0)
  byKind.show(Object.entries(kinds).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)))
  byPriority.show(Object.entries(priorities).sort(([a], [b]) => b - a))
  setText(byId('waiting-figure'), size === undefined ? '–' : number(size))
  setText(byId('dead-figure'), dead === undefined ? '–' : number(dead))
  byId('dead-figure')
    .closest('.tile')
    .classList.toggle('alarm', dead > 0)
  const note = part?.denied === undefined ? '' : 'not allowed'
  setText(byId('waiting-note'), note)
  setText(byId('dead-note'), dead > 0 ? 'never acknowledged' : note)
}
