import {Flags} from '@oclif/core'
import {nearest, SvcError} from '../errors/index.js'

/** A column of a table. A string is the title of a column whose cells never break: an id, a time, a number. */
export type Column = string | {readonly title: string; readonly wraps?: true; readonly isWide?: true}

/** A column of texts, which wrap if a row does not fit the terminal. */
export const wrapped = (title: string): Column => ({title, wraps: true})

/** A column that only `--output wide` and `--columns` show. */
export const wide = (column: Column): Column => ({...described(column), isWide: true})

const described = (column: Column): Exclude<Column, string> => (typeof column === 'string' ? {title: column} : column)

/** How a table is printed. */
export interface TableView {
  /** Terminal width in characters; undefined: unlimited, as is 0, the width of a terminal that does not know it. */
  readonly width?: number | undefined
  /** `name` prints only the first column, without a header. */
  readonly output?: string | undefined
  /** The names of the columns to print. */
  readonly columns?: readonly string[] | undefined
}

/** Flags of commands that list records in a table. `--output json` is `--json`, see `withJsonOutput`. */
export const tableFlags = {
  output: Flags.string({
    char: 'o',
    description: 'Output format: all columns, JSON (same as --json), or only ids.',
    options: ['wide', 'json', 'name'],
  }),
  columns: Flags.string({
    description: 'Columns to print, separated by commas.',
    helpValue: 'NAMES',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    exclusive: ['output'],
  }),
}

/** Minimum width of a column that is wrapped to fit the terminal, characters. */
const narrowest = 14

/**
 * Formats a table: a header and rows, with columns aligned by spaces and no trailing spaces. The widest columns of texts
 * wrap if a row does not fit the terminal. If that is not enough, each row is a list with a line per column.
 * @param empty printed instead of a table without rows
 * @throws column_unknown
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  {width: columnsOfTerminal, output, columns: names}: TableView = {},
  empty?: string,
): string {
  const width = columnsOfTerminal || Number.POSITIVE_INFINITY
  if (output === 'name') return rows.map(([name = '']) => `${name}\n`).join('')
  const shown = selected(columns.map(described), names, output === 'wide')
  if (rows.length === 0 && empty !== undefined) return `${empty}\n`
  const titles = shown.map(({title}) => title)
  const cells = rows.map((row) => shown.map(({index}) => row[index] ?? ''))
  const lines = [titles, ...cells]
  const natural = shown.map((_, i) => lines.reduce((longest, line) => Math.max(longest, line[i]?.length ?? 0), 0))
  const widths = fit(natural, shown, width - 2 * (shown.length - 1))
  return widths === undefined ? formatRecords(titles, cells, width) : formatLines(lines, widths)
}

/** Facts about one record: names and texts, which wrap. @param width terminal width; undefined: unlimited */
export const formatFacts = (
  [[name = '', value = ''] = [], ...others]: readonly (readonly string[])[],
  width?: number,
): string => formatTable([name, wrapped(value)], others, {width})

type Shown = Exclude<Column, string> & {readonly index: number}

function selected(
  columns: readonly Exclude<Column, string>[],
  names: readonly string[] | undefined,
  isWide: boolean,
): Shown[] {
  const indexed = columns.map((column, index) => ({...column, index}))
  if (names === undefined) return indexed.filter((column) => isWide || !column.isWide)
  const known = columns.map(({title}) => title.toLowerCase().replaceAll(' ', '-'))
  return names.map((name) => {
    const found = indexed[known.indexOf(name.trim().toLowerCase())]
    if (found !== undefined) return found
    throw new SvcError('column_unknown', {column: name, columns: known.join(', '), suggestion: nearest(name, known)})
  })
}

function formatLines(lines: readonly (readonly string[])[], widths: readonly number[]): string {
  const last = widths.length - 1
  return lines
    .flatMap((line) => {
      const cells = widths.map((width, i) => wrap(line[i] ?? '', width, i < last))
      const height = Math.max(...cells.map(({length}) => length))
      return Array.from({length: height}, (_, part) => cells.map((cell) => cell[part] ?? ''))
    })
    .map((line) => line.map((cell, i) => (i === last ? cell : cell.padEnd(widths[i] ?? 0))).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** Each row as a list of titles and cells, for terminals on which no table fits. */
function formatRecords(titles: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const first = Math.max(...titles.map(({length}) => length))
  const widths = [first, Math.max(narrowest, width - first - 2)]
  const lines = (row: readonly string[]) => row.map((cell, i) => [titles[i] ?? '', cell])
  return rows.map((row) => formatLines(lines(row), widths)).join('\n')
}

/**
 * Narrows the widest column of texts by one character at a time until all columns fit; undefined if they do not fit at
 * their minimum widths.
 */
function fit(natural: readonly number[], columns: readonly Shown[], available: number): number[] | undefined {
  const widths = [...natural]
  let excess = widths.reduce((sum, one) => sum + one, 0) - available
  for (; excess > 0; excess--) {
    const widest = Math.max(...widths.filter((_, i) => columns[i]?.wraps))
    if (widest <= narrowest) return undefined
    const at = widths.findLastIndex((width, i) => columns[i]?.wraps && width === widest)
    widths[at] = widest - 1
  }
  return widths
}

/**
 * Wraps a text between words into lines of at most `width` characters. A longer word is split if another column follows;
 * otherwise it gets its own line.
 */
export function wrap(text: string, width: number, isFollowed: boolean): string[] {
  if (text.length <= width) return [text]
  const lines: string[] = []
  for (const word of text.split(' ').flatMap((word) => (isFollowed ? pieces(word, width) : [word]))) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Splits a word into pieces of at most `width` characters, after punctuation if possible. */
function pieces(word: string, width: number): string[] {
  if (word.length <= width) return [word]
  const at = /^.*[._,;:/=-]/.exec(word.slice(0, width))?.[0].length ?? width
  return [word.slice(0, at), ...pieces(word.slice(at), width)]
}
