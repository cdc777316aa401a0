/** A number, a quote or an escape of a JSON text. A whole string is not one match, since a long one exceeds the stack. */
const token = /"|\\.|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/**
 * Parses JSON that somebody has written. `JSON.parse` rounds integers beyond 2^53 without a word, so that another id would
 * be used than the one in the text.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // Numbers with at least 16 digits are rare: the place is searched only if there is one.
  if (/\d{16}/.test(text)) {
    let isInString = false
    for (const {0: found, index} of text.matchAll(token)) {
      if (found === '"') isInString = !isInString
      if (isInString || !/^-?\d+$/.test(found) || isExact(Number(found))) continue
      const before = text.slice(0, index).split('\n')
      throw new SyntaxError(`${inexact(found)} (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`)
    }
  }
  return value
}

export const isExact = Number.isSafeInteger

export const inexact = (digits: string) =>
  `the integer ${digits} is not exact, since it is beyond 2^53; write it as a string`
