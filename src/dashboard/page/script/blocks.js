/** Parts of the views of one task, run or plan. */
import {element} from '../../../pages/parts/elements.js'
import {createReader} from '../../../pages/parts/reader.js'
import {createTable, tableRow, turnIntoCards} from '../../../pages/parts/rows.js'

/** A section with a heading; undefined if it has no content. */
export const section = (title, ...content) =>
  content.length === 0
    ? undefined
    : element('section', {}, element('div', {className: 'head'}, element('h3', {}, title)), ...content)

/** A list of names and values; values that are missing are left out. */
export const facts = (values) =>
  element(
    'dl',
    {className: 'facts panel'},
    ...Object.entries(values)
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  )

/** A text as it was written, such as the output of a program. */
export const verbatim = (text, label) => element('pre', {className: 'panel', tabIndex: 0, ariaLabel: label}, text)

/** A JSON value. */
export const json = (value, label) =>
  verbatim(typeof value === 'string' ? value : JSON.stringify(value, null, 2), label)

/** A table of cells that are texts or elements; undefined is a dash. */
export function plainTable(caption, names, rows) {
  const columns = Object.fromEntries(names.map((name, index) => [name, index === 0 ? 'id' : '']))
  const table = createTable(caption, columns)
  const body = element('tbody', {role: 'rowgroup'})
  for (const cells of rows) {
    const row = tableRow(columns)
    cells.forEach((cell, index) => {
      row.contents[index].append(cell || '–')
      row.mark(index, !cell)
    })
    body.append(row.element)
  }
  table.append(body)
  const panel = element('div', {className: 'panel'}, table)
  turnIntoCards(table, 560)
  return panel
}

export const button = (words, onclick, className = '') => element('button', {type: 'button', className, onclick}, words)

/**
 * A view of one object, which is read again after its changes. Its content is only replaced if it differs, so that focus
 * and selection are preserved.
 * @param render returns the elements, and the buttons above them, of what was read
 * @param concerns true if changes concern the object
 */
export function objectView({title, read, render, concerns, showFault}) {
  const content = element('div', {}, element('p', {className: 'quiet'}, 'Loading …'))
  const buttons = element('div', {className: 'actions'})
  let isOpen = true
  let shown
  const reload = createReader(
    read,
    (value) => {
      showFault()
      const key = JSON.stringify(value)
      if (key === shown) return
      shown = key
      const {elements, actions = []} = render(value)
      content.replaceChildren(...elements.filter((each) => each !== undefined))
      buttons.replaceChildren(...actions)
    },
    {
      onFault(error) {
        showFault(error)
        if (shown === undefined) content.replaceChildren()
      },
      isOpen: () => isOpen,
    },
  )
  reload()
  return {
    title,
    actions: [buttons],
    elements: [content],
    reload,
    changed: (changes) => concerns(changes) && reload(),
    close() {
      isOpen = false
    },
  }
}
