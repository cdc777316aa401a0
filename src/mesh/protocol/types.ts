import {SvcError} from '../../errors/index.js'
import {longestScopeKey} from './lease.js'
import {isObject, type Member} from './member.js'

/** Half of a pair of UTF-16: it has no UTF-8, so that two texts which differ in it would become one. */
const halfPair = /\p{Cs}/u

/** What a terminal would act on, and what has no UTF-8. */
const unprintable = /[\p{Cc}\p{Cs}]/u

export const text: Member<string> = {
  expected: 'a text of whole characters',
  read: (value) => (typeof value === 'string' && !halfPair.test(value) ? value : undefined),
}

/** A name: neither blank nor on several lines. Blanks around it are left out. */
export const word = (longest: number): Member<string> => ({
  expected: `a text of up to ${longest} characters on one line`,
  read: (value) => (typeof value === 'string' ? asWord(value, longest) : undefined),
})

function asWord(value: string, longest: number): string | undefined {
  const trimmed = value.trim()
  return trimmed === '' || trimmed.length > longest || unprintable.test(trimmed) ? undefined : trimmed
}

export const flag: Member<boolean> = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
}

export const number = (least: number, most: number): Member<number> => ({
  expected: `a number from ${least} to ${most}`,
  read: (value) => (typeof value === 'number' && value >= least && value <= most ? value : undefined),
})

export const integer = (least = 0, most = Number.MAX_SAFE_INTEGER): Member<number> => ({
  expected:
    most === Number.MAX_SAFE_INTEGER ? `a whole number from ${least}` : `a whole number from ${least} to ${most}`,
  read: (value) =>
    Number.isSafeInteger(value) && within(value as number, least, most) ? (value as number) : undefined,
})

/** A whole number in the query of an address. */
export const digits: Member<number> = {
  expected: 'a whole number',
  read: (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined),
}

const within = (value: number, least: number, most: number) => value >= least && value <= most

export const oneOf = <const T extends string>(...words: readonly T[]): Member<T> => ({
  expected: `one of ${words.join(', ')}`,
  read: (value) => words.find((one) => one === value),
})

/** A list of the same kind, up to a length. */
export const list = <T>(most: number, item: Member<T>): Member<readonly T[]> => ({
  expected: `a list of up to ${most}, each ${item.expected}`,
  read(value, field) {
    if (!Array.isArray(value) || value.length > most) return undefined
    const items: T[] = []
    for (const [i, raw] of value.entries()) {
      const read = item.read(raw, `${field}[${i}]`)
      if (read === undefined) return undefined
      items.push(read)
    }
    return items
  },
})

/** An object with members of a table. */
export const object = <T extends object>(reader: (value: object, path: string) => T): Member<T> => ({
  expected: 'an object',
  read: (value, field) => (isObject(value) ? reader(value, `${field}.`) : undefined),
})

/** An object that is kept as it is, up to so many characters of JSON. */
export const anyObject = (longest: number): Member<object> => ({
  expected: `an object of up to ${longest} characters of JSON`,
  read(value) {
    const json = isObject(value) ? JSON.stringify(value) : undefined
    return json === undefined || json.length > longest || writtenHalfPair.test(json) ? undefined : (value as object)
  },
})

/** The only thing that JSON is written with `\u` and a `d` for: half of a pair. */
const writtenHalfPair = /(?<!\\)(?:\\\\)*\\ud/

const highestAgent = 2n ** 64n - 1n

/** The number of an agent, without zeros in front: 64 bits, so it travels as a text. @throws invalid_agent_id */
export const agentId: Member<string> = {
  expected: 'the number of an agent as a text',
  read(value, field) {
    const digits = typeof value === 'string' ? value.trim() : ''
    if (!/^\d{1,40}$/.test(digits) || BigInt(digits) > highestAgent) throw new SvcError('invalid_agent_id', {field})
    return digits.length === 1 ? digits : BigInt(digits).toString()
  },
}

/** What a lease is for. @throws scope_key_too_long */
export const scopeKey: Member<string> = {
  expected: 'a text on one line that is not blank',
  read(value) {
    const key = typeof value === 'string' ? value.trim() : ''
    if (Buffer.byteLength(key) > longestScopeKey) throw new SvcError('scope_key_too_long', {limit: longestScopeKey})
    return key === '' || unprintable.test(key) ? undefined : key
  },
}

export const nodeId = word(256)

/** Id of a lease: any word, since one that is no number is simply not there. */
export const leaseId = word(64)
