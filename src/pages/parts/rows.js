/** Rows of tables. Only changed rows are updated, so that focus and selection are preserved. */
import {element} from './elements.js'

/** Columns of a table: the name of each, and the class of its cells: `id`, `fit`, `acts`, `wide` or none. */
export function createTable(caption, columns) {
  const heads = Object.entries(columns).map(([name, kind]) =>
    name === ''
      ? element(
          'th',
          {role: 'columnheader', scope: 'col', className: kind},
          element('span', {className: 'unseen'}, 'Actions'),
        )
      : element('th', {role: 'columnheader', scope: 'col', className: kind}, name),
  )
  const table = element(
    'table',
    {role: 'table'},
    element('caption', {className: 'unseen'}, caption),
    element('thead', {role: 'rowgroup'}, element('tr', {role: 'row'}, ...heads)),
  )
  return table
}

/** Shows the rows of a table as cards while its container is narrower than a width, px. */
export function turnIntoCards(table, width) {
  new ResizeObserver(([{contentRect}]) => table.classList.toggle('cards', contentRect.width < width)).observe(
    table.parentElement,
  )
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

/** Highlights a row that has changed. */
export function flash(row) {
  row.classList.remove('changed')
  void row.offsetWidth
  row.classList.add('changed')
}

/** The rows of an element by their keys. */
export class KeyedRows {
  #body
  #keyOf
  #make
  #rows = new Map()

  /** @param make creates the row of an item: `{element, update(item), tick?()}` */
  constructor(body, keyOf, make) {
    this.#body = body
    this.#keyOf = keyOf
    this.#make = make
  }

  show(items) {
    const keys = new Set(items.map(this.#keyOf))
    for (const [key, row] of this.#rows)
      if (!keys.has(key)) {
        row.element.remove()
        this.#rows.delete(key)
      }
    let next = this.#body.firstElementChild
    for (const item of items) {
      const row = this.#rowOf(item)
      row.update(item)
      if (row.element === next) next = next.nextElementSibling
      else this.#body.insertBefore(row.element, next)
    }
  }

  /** Updates what depends on the time. */
  tick() {
    for (const row of this.#rows.values()) row.tick?.()
  }

  #rowOf(item) {
    const key = this.#keyOf(item)
    const found = this.#rows.get(key) ?? this.#make(item)
    this.#rows.set(key, found)
    return found
  }
}
