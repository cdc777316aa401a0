import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {maxScopeKeyBytes} from './lease.js'
import type {Member} from './member.js'

/** Lone surrogate: it has no UTF-8 encoding, so that different strings could be stored as the same bytes. */
const loneSurrogate = /\p{Cs}/u

/** Control characters, which terminals interpret, and lone surrogates. */
const unprintable = /[\p{Cc}\p{Cs}]/u

export const text: Member<string> = {
  expected: 'a string without lone surrogates',
  read: (value) => (typeof value === 'string' && !loneSurrogate.test(value) ? value : undefined),
}

/** Trimmed string without control characters; not empty. */
export const word = (maxLength: number): Member<string> => ({
  expected: `a string of up to ${maxLength} characters on one line`,
  read: (value) => (typeof value === 'string' ? asWord(value, maxLength) : undefined),
})

function asWord(value: string, maxLength: number): string | undefined {
  const trimmed = value.trim()
  return trimmed === '' || trimmed.length > maxLength || unprintable.test(trimmed) ? undefined : trimmed
}

export const flag: Member<boolean> = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
}

export const number = (min: number, max: number): Member<number> => ({
  expected: `a number from ${min} to ${max}`,
  read: (value) => (typeof value === 'number' && value >= min && value <= max ? value : undefined),
})

export const integer = (min = 0, max = Number.MAX_SAFE_INTEGER): Member<number> => ({
  expected: max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`,
  read: (value) => (Number.isSafeInteger(value) && within(value as number, min, max) ? (value as number) : undefined),
})

/** Integer in a query string. */
export const digits: Member<number> = {
  expected: 'an integer of at least 0',
  read: (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined),
}

const within = (value: number, min: number, max: number) => value >= min && value <= max

export const oneOf = <const T extends string>(...words: readonly T[]): Member<T> => ({
  expected: `one of ${words.join(', ')}`,
  read: (value) => words.find((one) => one === value),
})

export const list = <T>(maxLength: number, item: Member<T>): Member<readonly T[]> => ({
  expected: `a list of up to ${maxLength} items, each ${item.expected}`,
  read(value, field) {
    if (!Array.isArray(value) || value.length > maxLength) return undefined
    const items: T[] = []
    for (const [i, raw] of value.entries()) {
      const read = item.read(raw, `${field}[${i}]`)
      if (read === undefined) return undefined
      items.push(read)
    }
    return items
  },
})

export const object = <T extends object>(reader: (value: object, path: string) => T): Member<T> => ({
  expected: 'an object',
  read: (value, field) => (isObject(value) ? reader(value, `${field}.`) : undefined),
})

/** Object that is stored unchanged, with a maximum length of its JSON. */
export const anyObject = (maxLength: number): Member<object> => ({
  expected: `an object of up to ${maxLength} characters of JSON`,
  read(value) {
    const json = isObject(value) ? JSON.stringify(value) : undefined
    return json === undefined || json.length > maxLength || escapedSurrogate.test(json) ? undefined : (value as object)
  },
})

/** `JSON.stringify` writes `\ud…` only for lone surrogates. */
const escapedSurrogate = /(?<!\\)(?:\\\\)*\\ud/

const maxAgent = 2n ** 64n - 1n

/** Agent id without leading zeros: a string, because a JSON number cannot hold 64 bits. @throws invalid_agent_id */
export const agentId: Member<string> = {
  expected: 'an agent id as a string of decimal digits',
  read(value, field) {
    const digits = typeof value === 'string' ? value.trim() : ''
    if (!/^\d{1,40}$/.test(digits) || BigInt(digits) > maxAgent) throw new SvcError('invalid_agent_id', {field})
    return digits.length === 1 ? digits : BigInt(digits).toString()
  },
}

/** Key of a lease. @throws scope_key_too_long */
export const scopeKey: Member<string> = {
  expected: 'a non-blank string on one line',
  read(value) {
    const key = typeof value === 'string' ? value.trim() : ''
    if (Buffer.byteLength(key) > maxScopeKeyBytes) throw new SvcError('scope_key_too_long', {limit: maxScopeKeyBytes})
    return key === '' || unprintable.test(key) ? undefined : key
  },
}

export const nodeId = word(256)

/** Any string is a valid lease id; one that is not a number is not found. */
export const leaseId = word(64)
