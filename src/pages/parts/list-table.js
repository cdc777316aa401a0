/** Table of all items of a list that is read at once. */
import {element, setHidden} from './elements.js'
import {createTable, KeyedRows, turnIntoCards} from './rows.js'

export class ListTable {
  #rows
  #table
  #empty

  /** @param options as those of `PagedTable`, without those for loading */
  constructor({caption, columns, keyOf, make, empty, cardsBelow = 640}) {
    const body = element('tbody', {role: 'rowgroup'})
    this.#table = createTable(caption, columns)
    this.#table.append(body)
    this.#table.hidden = true
    this.#rows = new KeyedRows(body, keyOf, make)
    this.#empty = element('div', {className: 'empty', hidden: true}, ...empty)
    this.element = element('div', {className: 'panel'}, this.#table, this.#empty)
    turnIntoCards(this.#table, cardsBelow)
  }

  show(items) {
    this.#rows.show(items)
    setHidden(this.#table, items.length === 0)
    setHidden(this.#empty, items.length > 0)
  }

  tick() {
    this.#rows.tick()
  }
}
