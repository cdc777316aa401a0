/** A view of a list that is read at once, and again after a change. */
import {element} from '../../../pages/parts/elements.js'
import {ListTable} from '../../../pages/parts/list-table.js'
import {createReader} from '../../../pages/parts/reader.js'

/** @param empty a sentence, and a command that creates an item */
export function listView({
  title,
  columns,
  read,
  keyOf,
  make,
  empty: [sentence, command],
  concerns,
  showFault,
  ...more
}) {
  let isOpen = true
  const table = new ListTable({
    caption: title,
    columns,
    keyOf,
    make,
    empty: [
      element('p', {className: 'lead'}, sentence),
      ...(command === undefined ? [] : [element('p', {}, element('code', {}, command))]),
    ],
  })
  const reload = createReader(read, (items) => table.show(items), {onFault: showFault, isOpen: () => isOpen})
  reload()
  return {
    title,
    elements: [table.element],
    reload,
    changed: (changes) => concerns(changes) && reload(),
    tick: () => table.tick(),
    close() {
      isOpen = false
    },
    ...more,
  }
}
