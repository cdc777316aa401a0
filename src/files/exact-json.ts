/** A number, a quote or an escape of a JSON text. A whole string is not one match, since a long one exceeds the stack. */
const token = /"|\\.|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/**
 * Parses JSON that a user has written. `JSON.parse` rounds integers beyond 2^53 without an error, so that another id
 * would be used than the one in the text.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const fault = inexactNumber(text)
  if (fault !== undefined) throw new SyntaxError(fault)
  return value
}

/** Like `parseExactJson`, for the answer of another program: integers that `JSON.parse` would round become strings. */
export function parseForeignJson(text: string): unknown {
  let exact = ''
  let end = 0
  for (const {digits, index} of inexactNumbers(text)) {
    exact += `${text.slice(end, index)}"${digits}"`
    end = index + digits.length
  }
  return JSON.parse(exact + text.slice(end))
}

/** What is wrong with the first integer of valid JSON that `JSON.parse` rounds, and its place; undefined if there is none. */
export function inexactNumber(text: string): string | undefined {
  for (const {digits, index} of inexactNumbers(text)) {
    const before = text.slice(0, index).split('\n')
    return `${inexact(digits)} (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`
  }
  return undefined
}

function* inexactNumbers(text: string): Generator<{digits: string; index: number}> {
  // Numbers with at least 16 digits are rare: they are searched only if there is one.
  if (!/\d{16}/.test(text)) return
  let isInString = false
  for (const {0: digits, index} of text.matchAll(token)) {
    if (digits === '"') isInString = !isInString
    if (!isInString && /^-?\d+$/.test(digits) && !isExact(Number(digits))) yield {digits, index}
  }
}

export const isExact = Number.isSafeInteger

export const inexact = (digits: string) =>
  `the integer ${digits} is not exact, since it is beyond 2^53; write it as a string`
