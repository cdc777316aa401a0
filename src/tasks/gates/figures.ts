/** A number in a text, or a date, time or version. */
export interface Figure {
  text: string
  /** Equal for figures of equal value: `1,204` and `1204`, but not `312` and `12`. */
  key: string
}

/**
 * The figures of a text. Digits that belong to a name, such as `sha256` or `T-0042`, are none; units are ignored. A
 * range or fraction has two figures, a date, a time and a version one.
 */
export const figuresIn = (text: string): Figure[] =>
  [...text.matchAll(/\.?\d[\d.,:_/-]*/g)].flatMap(({0: match, index}) => {
    const run = withoutEnd(match)
    const chunks = chunksOf(run)
    const isName = isPartOfName(text, index) || (run === match && hasNameSuffix(text, index + run.length))
    return isName ? chunks.filter(isComposite).map(asWritten) : chunks.flatMap(figuresOfChunk)
  })

/** Removes punctuation after the last digit. */
function withoutEnd(run: string): string {
  let end = run.length
  while (/\D/.test(run.charAt(end - 1))) end--
  return run.slice(0, end)
}

const isPartOfName = (text: string, start: number): boolean =>
  /[\p{L}\p{N}_]/u.test(text.charAt(start - 1)) ||
  (text.charAt(start - 1) === '-' && /[\p{L}_]/u.test(text.charAt(start - 2)))

/** Letters and then digits follow, as in a hexadecimal digest. */
function hasNameSuffix(text: string, end: number): boolean {
  const suffix = /[\p{L}_]{1,64}\d/uy
  suffix.lastIndex = end
  return suffix.test(text)
}

/** Divides ranges and fractions. Three parts are a date. */
function chunksOf(run: string): string[] {
  const chunks = run.split(/[/-]/).filter((chunk) => chunk !== '')
  return chunks.length > 2 ? [run] : chunks
}

/** Dates, times and versions have no value: they must occur as they are written. */
const isComposite = (chunk: string): boolean => /[:/-]|\..*\./.test(chunk)

const asWritten = (text: string): Figure => ({text, key: text})

const grouped = /^\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?$/

function figuresOfChunk(chunk: string): Figure[] {
  if (isComposite(chunk)) return [asWritten(chunk)]
  const numbers = grouped.test(chunk) ? [chunk] : chunk.split(/[,_]/)
  return numbers
    .filter((text) => /\d/.test(text))
    .map((text) => ({text, key: String(Number(text.replaceAll(/[,_]/g, '')))}))
}
