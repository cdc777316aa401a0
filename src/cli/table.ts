/** The last column is at least this wide, however narrow the terminal is, characters. */
const narrowest = 20

/**
 * Columns aligned with blanks, a header first; the last column is not padded.
 * @param width of the terminal: the last column continues on the next line, between words, where it is longer
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const last = header.length - 1
  const before = widths.slice(0, last).reduce((sum, one) => sum + one + 2, 0)
  const room = Math.max(narrowest, width - before)
  return lines
    .flatMap((line) =>
      wrap(line[last] ?? '', room).map((part, i) =>
        i === 0 ? [...line.slice(0, last), part] : [...header.slice(0, last).map(() => ''), part],
      ),
    )
    .map((line) => line.map((cell, i) => (i === last ? cell : cell.padEnd(widths[i] ?? 0))).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** A text in lines of at most `width` characters, broken between words; a longer word has a line of its own. */
function wrap(text: string, width: number): string[] {
  if (text.length <= width) return [text]
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
