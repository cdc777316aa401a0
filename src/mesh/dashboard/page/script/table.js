/** A table that is kept row by row: what has not changed is not touched, so that focus and selection stay. */
import {byId, element, setHidden, setText} from './elements.js'
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
    setText(more.querySelector('span'), `The first ${number(shown.length)} of ${number(items.length)} are shown.`)
  }

  return {
    show,
    tick: () => {
      for (const row of made.values()) row.tick()
    },
  }
}

/** A row of cells; each holds its content in one element, beside the name of its column where rows are cards. */
export function tableRow(columns) {
  const cells = Object.entries(columns).map(([head, kind]) => {
    const content = element('div', {})
    return {content, cell: element('td', {role: 'cell', className: kind, 'data-head': head}, content)}
  })
  return {
    element: element('tr', {role: 'row'}, ...cells.map(({cell}) => cell)),
    contents: cells.map(({content}) => content),
    /** A cell with nothing in it shows a dash, and no line on a card. */
    mark: (index, isEmpty) => cells[index].cell.classList.toggle('none', isEmpty),
  }
}

/** Shows one of: what may not be seen, nothing yet, nothing there. Gives what is known, if anything is. */
export function openPart(name, part, isEmpty) {
  const known = part?.known
  setHidden(byId(`${name}-wait`), part !== undefined)
  setHidden(byId(`${name}-denied`), part?.denied === undefined)
  if (part?.denied !== undefined) setText(byId(`${name}-denied`).lastElementChild, part.denied)
  setHidden(byId(`${name}-empty`), known === undefined || !isEmpty(known))
  return known
}
