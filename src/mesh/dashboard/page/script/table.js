/** Tables of the page: their states, and their first rows. */
import {byId, setHidden, setText} from '../../../../pages/parts/elements.js'
import {number} from '../../../../pages/parts/format.js'
import {KeyedRows, turnIntoCards} from '../../../../pages/parts/rows.js'

const pageSize = 200

/** @param cardsBelow width of the container below which rows are cards, px */
export function keyedTable(name, cardsBelow, keyOf, make) {
  const rows = new KeyedRows(byId(`${name}-rows`), keyOf, make)
  const table = byId(`${name}-table`)
  const more = byId(`${name}-more`)
  turnIntoCards(table, cardsBelow)
  let limit = pageSize
  let all = []
  more.querySelector('button').onclick = () => {
    limit += pageSize
    show(all)
  }

  function show(items) {
    all = items
    const shown = items.slice(0, limit)
    rows.show(shown)
    setHidden(table, items.length === 0)
    setHidden(more, items.length <= limit)
    setText(more.querySelector('span'), `Showing the first ${number(shown.length)} of ${number(items.length)}.`)
  }

  return {show, tick: () => rows.tick()}
}

/** Shows the state of a part: denied, waiting, empty or known. @returns the known data, if any */
export function openPart(name, part, isEmpty) {
  const known = part?.known
  setHidden(byId(`${name}-wait`), part !== undefined)
  setHidden(byId(`${name}-denied`), part?.denied === undefined)
  if (part?.denied !== undefined) setText(byId(`${name}-denied`).lastElementChild, part.denied)
  setHidden(byId(`${name}-empty`), known === undefined || !isEmpty(known))
  return known
}
