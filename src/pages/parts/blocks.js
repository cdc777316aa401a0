/** Blocks of a page: sections, facts, texts and small tables. */
import {element} from './elements.js'
import {createTable, tableRow, turnIntoCards} from './rows.js'

/** A section with a heading; undefined if it has no content. */
export const section = (title, ...content) =>
  content.length === 0
    ? undefined
    : element('section', {}, element('div', {className: 'head'}, element('h3', {}, title)), ...content)

/** Number of characters from which a value has the width of two others. */
const wideText = 24

const isWide = (value) => (typeof value === 'string' ? value : value.textContent).length >= wideText

/** A list of names and values; values that are missing are left out. */
export const facts = (values) =>
  element(
    'dl',
    {className: 'facts panel'},
    ...Object.entries(values)
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) =>
        element('div', {className: isWide(value) ? 'wide' : ''}, element('dt', {}, name), element('dd', {}, value)),
      ),
  )

/** A text as it was written, such as the output of a program. */
export const verbatim = (text, label) => element('pre', {className: 'panel', tabIndex: 0, ariaLabel: label}, text)

/** A text that grows. It stays where the user has scrolled to, or at its end. */
export function growingText(label) {
  const text = verbatim('', label)
  return {
    show(next) {
      const isAtEnd = text.scrollTop + text.clientHeight >= text.scrollHeight - 4
      const top = text.scrollTop
      text.textContent = next
      requestAnimationFrame(() => {
        text.scrollTop = isAtEnd ? text.scrollHeight : top
      })
      return text
    },
  }
}

/** A JSON value. */
export const json = (value, label) =>
  verbatim(typeof value === 'string' ? value : JSON.stringify(value, null, 2), label)

/** Width that a column of a table needs, px. */
const minColumn = 110

/** A table of cells that are texts or elements; undefined is a dash. */
export function plainTable(caption, names, rows) {
  const columns = Object.fromEntries(names.map((name, index) => [name, name === '' ? 'acts' : index === 0 ? 'id' : '']))
  const table = createTable(caption, columns)
  const body = element('tbody', {role: 'rowgroup'})
  for (const cells of rows) {
    const row = tableRow(columns)
    cells.forEach((cell, index) => {
      row.contents[index].append(cell || (names[index] === '' ? '' : '–'))
      row.mark(index, !cell)
    })
    body.append(row.element)
  }
  table.append(body)
  const panel = element('div', {className: 'panel'}, table)
  turnIntoCards(table, Math.max(560, minColumn * names.length))
  return panel
}

export const button = (words, onclick, className = '') => element('button', {type: 'button', className, onclick}, words)
