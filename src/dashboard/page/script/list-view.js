/** Views of lists. */
import {element} from '../../../pages/parts/elements.js'
import {ListTable} from '../../../pages/parts/list-table.js'
import {PagedTable} from '../../../pages/parts/paged-table.js'
import {createReader} from '../../../pages/parts/reader.js'

/** What is shown instead of rows: a sentence, and a command that creates an item. */
const emptyBlock = ([sentence, command]) => [
  element('p', {className: 'lead'}, sentence),
  ...(command === undefined ? [] : [element('p', {}, element('code', {}, command))]),
]

/**
 * A view of a list that is read at once, and again after a change.
 * @param read returns the items
 * @param shown receives them after they are shown
 */
export function listView({
  title,
  columns,
  read,
  shown = () => undefined,
  keyOf,
  make,
  empty,
  above = [],
  concerns = () => false,
  showFault,
  ...more
}) {
  const table = new ListTable({caption: title, columns, keyOf, make, empty: emptyBlock(empty)})
  const show = (items) => {
    showFault()
    table.show(items)
    shown(items)
  }
  const {reload, close} = createReader(read, show, {onFault: showFault})
  reload()
  return {
    title,
    elements: [...above, table.element],
    reload,
    changed: (changes) => concerns(changes) && reload(),
    tick: () => table.tick(),
    close,
    ...more,
  }
}

/** A view of a list that is read page by page. Its items are in descending order of their keys. */
export function pagedView({title, columns, load, keyOf, make, empty, concerns, showFault, ...more}) {
  const table = new PagedTable({
    caption: title,
    columns,
    load,
    keyOf,
    make,
    empty: emptyBlock(empty),
    onFault: showFault,
  })
  return {
    title,
    elements: [table.element],
    reload: () => table.changed(),
    changed: (changes) => concerns(changes) && table.changed(),
    tick: () => table.tick(),
    close: () => table.close(),
    ...more,
  }
}

/** Key of an item whose list is ordered by a time and an id. */
export const timedKey = (ms, id) => `${String(ms).padStart(15, '0')} ${id}`

/** The id of such a key. */
export const idOfKey = (key) => key.slice(16)
