/** No column is made narrower than this, however narrow the terminal is, characters. */
const narrowest = 20

/**
 * Columns aligned with blanks, a header first; the last column is not padded.
 * @param width of the terminal: the widest columns continue on the next line where a row is longer
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
      const cells = widths.map((room, i) => wrap(line[i] ?? '', room, i < last))
      const height = Math.max(...cells.map(({length}) => length))
      return Array.from({length: height}, (_, part) => cells.map((cell) => cell[part] ?? ''))
    })
    .map((line) => line.map((cell, i) => (i === last ? cell : cell.padEnd(widths[i] ?? 0))).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** Takes from the widest column, a character at a time, until all of them fit or none can be narrower. */
function fit(widths: readonly number[], room: number): number[] {
  const fitted = [...widths]
  while (fitted.reduce((sum, one) => sum + one, 0) > room) {
    const widest = Math.max(...fitted)
    if (widest <= narrowest) break
    fitted[fitted.lastIndexOf(widest)] = widest - 1
  }
  return fitted
}

/**
 * A text in lines of at most `width` characters, broken between words. A longer word is broken where another column
 * follows; otherwise it has a line of its own.
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

/** A word in pieces of at most `width` characters, broken after a mark such as a dot where there is one. */
function pieces(word: string, width: number): string[] {
  if (word.length <= width) return [word]
  const at = /^.*[._,;:/=-]/.exec(word.slice(0, width))?.[0].length ?? width
  return [word.slice(0, at), ...pieces(word.slice(at), width)]
}
