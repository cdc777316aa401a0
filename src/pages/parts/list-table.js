/** Table of the items of a list that is read at once. */
import {button} from './blocks.js'
import {element, setHidden, setText} from './elements.js'
import {number} from './format.js'
import {createTable, KeyedRows, turnIntoCards} from './rows.js'

/** Number of rows that are shown at first, and more each time. */
const rowsAtOnce = 200

export class ListTable {
  #rows
  #table
  #empty
  #words = element('span', {})
  #more
  #items = []
  #limit = rowsAtOnce

  /** @param options as those of `PagedTable`, without those for loading */
  constructor({caption, columns, keyOf, make, empty, cardsBelow = 640}) {
    const body = element('tbody', {role: 'rowgroup'})
    this.#table = createTable(caption, columns)
    this.#table.append(body)
    this.#table.hidden = true
    this.#rows = new KeyedRows(body, keyOf, make)
    this.#empty = element('div', {className: 'empty', hidden: true}, ...empty)
    const showMore = button('Show more', () => {
      this.#limit += rowsAtOnce
      this.show(this.#items)
    })
    this.#more = element('p', {className: 'more', hidden: true}, this.#words, ' ', showMore)
    this.element = element('div', {className: 'panel'}, this.#table, this.#empty, this.#more)
    turnIntoCards(this.#table, cardsBelow)
  }

  show(items) {
    this.#items = items
    const shown = items.slice(0, this.#limit)
    this.#rows.show(shown)
    setHidden(this.#table, items.length === 0)
    setHidden(this.#empty, items.length > 0)
    setHidden(this.#more, shown.length === items.length)
    setText(this.#words, `Showing the first ${number(shown.length)} of ${number(items.length)}.`)
  }

  tick() {
    this.#rows.tick()
  }
}
