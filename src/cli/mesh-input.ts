import {SvcError} from '../errors/index.js'

/** Parses a flag or an argument. @throws flag_value */
type Parse<T> = (value: string) => Promise<T>

const parser =
  <T>(expected: string, read: (text: string) => T | undefined) =>
  (flag: string): Parse<T> =>
  async (value) => {
    const parsed = read(value.trim())
    if (parsed === undefined) throw new SvcError('flag_value', {flag, value, expected})
    return parsed
  }

const maxAgent = 2n ** 64n - 1n

/** An unsigned 64-bit agent number. @param flag name for the error: `--to`, `AGENT` */
export const asAgent = parser('an agent number', (text) =>
  /^\d{1,40}$/.test(text) && BigInt(text) <= maxAgent ? text : undefined,
)

/** The id of a lease or message, a positive integer. */
const number = (text: string) =>
  /^\d+$/.test(text) && Number(text) > 0 && Number.isSafeInteger(Number(text)) ? Number(text) : undefined

export const asMessage = parser('a message id', number)

export const asLease = parser('a lease id', (text) => number(text)?.toString())

const maxWordLength = 256

/** Control characters, and lone surrogates, which have no UTF-8 encoding. */
const unprintable = /[\p{Cc}\p{Cs}]/u

const word = (text: string) => (text === '' || text.length > maxWordLength || unprintable.test(text) ? undefined : text)

const wordRule = `of 1 to ${maxWordLength} characters on one line`

export const asNode = parser(`a node id ${wordRule}`, word)

export const asLabel = parser(`a label ${wordRule}`, word)
