import {SvcError} from '../errors/index.js'

/** A parser of a flag or an argument. @throws flag_value */
type Parse<T> = (value: string) => Promise<T>

const parser =
  <T>(expected: string, read: (text: string) => T | undefined) =>
  (flag: string): Parse<T> =>
  async (value) => {
    const parsed = read(value.trim())
    if (parsed === undefined) throw new SvcError('flag_value', {flag, value, expected})
    return parsed
  }

const highestAgent = 2n ** 64n - 1n

/** An agent, by a number of 64 bits. @param flag what the value was given as: `--to`, `AGENT` */
export const asAgent = parser('the number of an agent', (text) =>
  /^\d{1,40}$/.test(text) && BigInt(text) <= highestAgent ? text : undefined,
)

/** A lease or a message, by its number, which counts from 1. */
const number = (text: string) =>
  /^\d+$/.test(text) && Number(text) > 0 && Number.isSafeInteger(Number(text)) ? Number(text) : undefined

export const asMessage = parser('the number of a message', number)

export const asLease = parser('the number of a lease', (text) => number(text)?.toString())

const longestWord = 256

/** What a terminal would act on, and what has no UTF-8. */
const unprintable = /[\p{Cc}\p{Cs}]/u

const word = (text: string) => (text === '' || text.length > longestWord || unprintable.test(text) ? undefined : text)

const wordWords = `of 1 to ${longestWord} characters on one line`

export const asNode = parser(`a node id ${wordWords}`, word)

export const asLabel = parser(`a label ${wordWords}`, word)
