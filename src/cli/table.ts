/** Minimum width of a column that is wrapped to fit the terminal, characters. */
const narrowest = 20

/**
 * Formats a table: a header and rows, with columns aligned by spaces and no trailing spaces.
 * @param width terminal width in characters; the widest columns wrap if a row does not fit
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = [header, ...rows]
  const last = header.length - 1
  const widths = fit(
    header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))),
    width - 2 * last,
  )
  return lines
    .flatMap((line) => {
      const cells = widths.map((columnWidth, i) => wrap(line[i] ?? '', columnWidth, i < last))
      const height = Math.max(...cells.map(({length}) => length))
      return Array.from({length: height}, (_, part) => cells.map((cell) => cell[part] ?? ''))
    })
    .map((line) => line.map((cell, i) => (i === last ? cell : cell.padEnd(widths[i] ?? 0))).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** Narrows the widest column by one character at a time until all columns fit or reach the minimum width. */
function fit(widths: readonly number[], available: number): number[] {
  const fitted = [...widths]
  while (fitted.reduce((sum, one) => sum + one, 0) > available) {
    const widest = Math.max(...fitted)
    if (widest <= narrowest) break
    fitted[fitted.lastIndexOf(widest)] = widest - 1
  }
  return fitted
}

/**
 * Wraps a text between words into lines of at most `width` characters. A longer word is split if another column follows;
 * otherwise it gets its own line.
 */
function wrap(text: string, width: number, isFollowed: boolean): string[] {
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
