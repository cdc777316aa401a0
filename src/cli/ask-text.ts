import {homedir} from 'node:os'
import {join} from 'node:path'
import type {AskV1} from '../contracts/index.js'
import {packageRoot} from '../files/index.js'
import {wrap} from './table.js'

/** Width of filled text where that of the terminal is unknown or larger, characters. */
const maxReadable = 100

/** The written answer, or else the best passage; then where to read more. */
export function formatAnswer({answer, passages}: AskV1, columns: number | undefined): string {
  const width = Math.min(columns || maxReadable, maxReadable)
  const [best, ...others] = passages
  if (answer !== null) {
    const notes = answer.removed.map((command) => `Removed, because it does not exist: ${command}\n`)
    const sources = passages.map(({page, headings}, i) => `[${i + 1}] ${headings.join(' > ')}: ${whereIs(page)}\n`)
    return `${plain(answer.text, width)}\n\n${notes.join('')}${sources.join('')}`
  }
  if (best === undefined) return ''
  const more = others.map(({page, headings}) => `  ${headings.at(-1)}: ${whereIs(page)}\n`)
  const text = `${best.headings.join(' > ')}\n\n${plain(best.text, width)}\n\nFrom: ${whereIs(best.page)}\n`
  return more.length === 0 ? text : `${text}\nSee also:\n${more.join('')}`
}

/** The path of a page, or the command that prints it. */
function whereIs(page: string): string {
  if (!page.startsWith('docs/')) return page
  const path = join(packageRoot, page)
  return path.startsWith(join(homedir(), '/')) ? path.replace(homedir(), '~') : path
}

/** Markdown as it is read on a terminal: links as their text, code indented, paragraphs filled. */
const plain = (text: string, width: number) =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^## (.*)$/gm, '$1:')
    .split(/^(```[^\n]*\n.*?^```$)/gms)
    .map((part) => (part.startsWith('```') ? indented(part) : filled(part, width)))
    .join('')

const indented = (code: string) =>
  code
    .replaceAll(/^```.*$\n?/gm, '')
    .trimEnd()
    .replaceAll(/^(?=.)/gm, '    ')

/** Joins the lines of paragraphs and of items, and breaks them at the width. Tables keep their lines. */
const filled = (text: string, width: number) =>
  text
    .split(/(\n\n+|\n(?=- ))/)
    .map((block) => {
      if (block.trim() === '' || block.startsWith('|')) return block
      const [, mark = ''] = /^(- )?/.exec(block) ?? []
      const words = block.slice(mark.length).split(/\s+/).join(' ')
      return mark + wrap(words, width - mark.length, false).join(`\n${' '.repeat(mark.length)}`)
    })
    .join('')
