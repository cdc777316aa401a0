/** Table that loads its rows page by page while the user scrolls, and reads the pages with changed rows again. */
import {element, setHidden, setText} from './elements.js'
import {createTable, KeyedRows, turnIntoCards} from './rows.js'

/** Distance from the visible part at which pages are loaded, and at which they are removed again, px. */
const margin = 800

/**
 * A page of rows: a `tbody`. Far from the visible part, it is an empty row of the same height, so that a table of any
 * length has few elements.
 */
class Page {
  /** Key before which the page begins; undefined: the first page. */
  cursor
  isStale = true
  isVisible = false
  #rows
  #items = []
  #make

  constructor(cursor, make) {
    this.cursor = cursor
    this.body = element('tbody', {role: 'rowgroup'})
    this.#make = make
  }

  get items() {
    return this.#items
  }

  show(items, keyOf) {
    this.#items = items
    if (this.#rows === undefined) {
      this.body.replaceChildren()
      this.#rows = new KeyedRows(this.body, keyOf, this.#make)
    }
    this.#rows.show(items)
  }

  /** Replaces the rows by an empty one, until the page is shown again. */
  hide() {
    if (this.#rows === undefined) return
    const space = element('tr', {className: 'space', ariaHidden: 'true'}, element('td', {}))
    const {height} = this.body.getBoundingClientRect()
    this.#rows = undefined
    this.isStale = true
    this.body.replaceChildren(space)
    space.style.height = `${height}px`
  }

  tick() {
    this.#rows?.tick()
  }
}

export class PagedTable {
  #options
  #pages = []
  #observer
  #isLoading = false
  #hasMore = true
  /** Changes with each reset; what was requested before is dropped. */
  #generation = 0
  #end = element('p', {className: 'more quiet'})
  #empty

  /**
   * @param options.caption for screen readers
   * @param options.columns names and classes of the columns
   * @param options.load loads `limit` rows below a cursor
   * @param options.keyOf number or text of an item; items are in descending order of them
   * @param options.make creates the row of an item
   * @param options.empty elements that are shown if there are no rows
   * @param options.onFault receives errors of `load`
   */
  constructor(options) {
    this.#options = {pageSize: 50, cardsBelow: 640, ...options}
    const {caption, columns, empty, cardsBelow} = this.#options
    this.table = createTable(caption, columns)
    this.#empty = element('div', {className: 'empty', hidden: true}, ...empty)
    this.element = element('div', {className: 'panel'}, this.table, this.#empty, this.#end)
    turnIntoCards(this.table, cardsBelow)
    this.#observer = new IntersectionObserver((entries) => this.#seen(entries), {rootMargin: `${margin}px 0px`})
    this.#observer.observe(this.#end)
    this.reset()
  }

  /** Starts with the first page again, after a change of the filter. */
  reset() {
    this.#generation++
    for (const {body} of this.#pages) body.remove()
    this.#pages = []
    this.#isLoading = false
    setHidden(this.#empty, true)
    setText(this.#end, 'Loading …')
    this.#insert(0, undefined).isVisible = true
    this.#load()
  }

  /** Reads the pages again to which items with these keys belong; all pages without keys. */
  changed(keys) {
    this.#pages.forEach((page, index) => {
      const {cursor} = page
      const end =
        this.#pages[index + 1]?.cursor ??
        (this.#hasMore && page.items.length > 0 ? this.#options.keyOf(page.items.at(-1)) : undefined)
      const isOfPage = (key) => (cursor === undefined || key < cursor) && (end === undefined || key >= end)
      if (keys === undefined || keys.some(isOfPage)) page.isStale = true
    })
    this.#load()
  }

  tick() {
    for (const page of this.#pages) page.tick()
  }

  close() {
    this.#generation++
    this.#observer.disconnect()
  }

  #insert(index, cursor) {
    const page = new Page(cursor, this.#options.make)
    const next = this.#pages[index]
    this.table.insertBefore(page.body, next?.body ?? null)
    this.#pages.splice(index, 0, page)
    this.#observer.observe(page.body)
    return page
  }

  #seen(entries) {
    for (const {target, isIntersecting} of entries) {
      const page = this.#pages.find(({body}) => body === target)
      if (page === undefined) continue
      // A page without rows has no place on the screen.
      page.isVisible = isIntersecting || page.items.length === 0
      if (!page.isVisible) page.hide()
    }
    this.#load()
  }

  /** Loads the stale visible pages one after another, then the next page if the end is visible. */
  async #load() {
    if (this.#isLoading) return
    this.#isLoading = true
    const generation = this.#generation
    const isCurrent = () => generation === this.#generation
    try {
      for (let page = this.#due(); page !== undefined; page = this.#due()) {
        page.isStale = false
        await this.#read(page, isCurrent)
        if (!isCurrent()) return
      }
    } catch (error) {
      if (isCurrent()) this.#options.onFault(error)
    } finally {
      if (isCurrent()) this.#isLoading = false
    }
  }

  /** The page to load next. */
  #due() {
    const stale = this.#pages.find(({isStale, isVisible}) => isStale && isVisible)
    if (stale !== undefined) return stale
    const last = this.#pages.at(-1)
    if (!this.#hasMore || last.items.length === 0 || !this.#isEndNear()) return undefined
    const next = this.#insert(this.#pages.length, this.#options.keyOf(last.items.at(-1)))
    next.isVisible = true
    return next
  }

  #isEndNear() {
    return this.#end.getBoundingClientRect().top < innerHeight + margin
  }

  async #read(page, isCurrent) {
    const {load, keyOf, pageSize} = this.#options
    const items = await load(page.cursor, pageSize).catch((error) => {
      page.isStale = true
      throw error
    })
    if (!isCurrent()) return
    const index = this.#pages.indexOf(page)
    const next = this.#pages[index + 1]
    const isFull = items.length === pageSize
    // Rows below the cursor of the next page are shown there.
    const own = next === undefined ? items : items.filter((item) => keyOf(item) >= next.cursor)
    page.show(own, keyOf)
    if (next === undefined) this.#hasMore = isFull
    else if (isFull && own.length === items.length && keyOf(own.at(-1)) > next.cursor)
      // There are more new rows than fit on the page.
      this.#insert(index + 1, keyOf(own.at(-1)))
    this.#showEnd()
  }

  #showEnd() {
    const count = this.#pages.reduce((sum, {items}) => sum + items.length, 0)
    setHidden(this.table, count === 0)
    setHidden(this.#empty, count > 0)
    setText(this.#end, this.#hasMore ? 'Loading …' : '')
    setHidden(this.#end, !this.#hasMore)
  }
}
