/** Table that updates only changed rows, so that focus and selection are preserved. */
import {byId, element, setHidden, setText} from '../../../../net/page/elements.js'
import {number} from './format.js'

const pageSize = 200

export function keyedTable(name, keyOf, make) {
  const body = byId(`${name}-rows`)
  const more = byId(`${name}-more`)
  const made = new Map()
  let limit = pageSize
  let all = []
  more.querySelector('button').onclick = () => {
    limit += pageSize
    show(all)
  }

  function show(items) {
    all = items
    const shown = items.slice(0, limit)
    const keys = new Set(shown.map(keyOf))
    for (const [key, row] of made)
      if (!keys.has(key)) {
        row.element.remove()
        made.delete(key)
      }
    let next = body.firstElementChild
    for (const item of shown) {
      let row = made.get(keyOf(item))
      if (row === undefined) {
        row = make(item)
        made.set(keyOf(item), row)
      }
      row.update(item)
      if (row.element === next) next = next.nextElementSibling
      else body.insertBefore(row.element, next)
    }
    setHidden(byId(`${name}-table`), items.length === 0)
    setHidden(more, items.length <= limit)
    setText(more.querySelector('span'), `Showing the first ${number(shown.length)} of ${number(items.length)}.`)
  }

  return {
    show,
    tick: () => {
      for (const row of made.values()) row.tick()
    },
  }
}

/** Creates a row of cells. Each cell has a content element, and the column name for the card layout. */
export function tableRow(columns) {
  const cells = Object.entries(columns).map(([head, kind]) => {
    const content = element('div', {})
    return {content, cell: element('td', {role: 'cell', className: kind, 'data-head': head}, content)}
  })
  return {
    element: element('tr', {role: 'row'}, ...cells.map(({cell}) => cell)),
    contents: cells.map(({content}) => content),
    /** Marks an empty cell, which shows a dash in a table and is hidden on a card. */
    mark: (index, isEmpty) => cells[index].cell.classList.toggle('none', isEmpty),
  }
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
