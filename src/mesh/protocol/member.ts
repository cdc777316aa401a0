import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'

/** Validator of a member of a request body. */
export interface Member<T> {
  /** Noun phrase for the error message: `a string of up to 256 characters`. */
  expected: string
  /**
   * Returns the normalised value; undefined if it is invalid.
   * @param field path in the body, such as `capabilities.cpu_cores`
   */
  read(value: unknown, field: string): T | undefined
  required?: true
}

export type Members = Readonly<Record<string, Member<unknown>>>

type Value<M> = M extends Member<infer T> ? T : never
type RequiredNames<M extends Members> = {[K in keyof M]: M[K] extends {required: true} ? K : never}[keyof M]

/** Result of reading a table of members. */
export type Read<M extends Members> = {-readonly [K in RequiredNames<M>]: Value<M[K]>} & {
  -readonly [K in Exclude<keyof M, RequiredNames<M>>]?: Value<M[K]>
}

/** Marks a member as required. */
export const must = <T>(member: Member<T>): Member<T> & {required: true} => ({...member, required: true})

/**
 * Creates a reader of objects with these members. Unknown members are dropped. Null counts as absent, and so does a
 * blank string for an optional member.
 * @throws missing_field; the errors of the members
 */
export function readerOf<const M extends Members>(members: M): (value: object, path?: string) => Read<M> {
  const rows = Object.entries(members)
  return (value, path = '') => {
    const input = value as Readonly<Record<string, unknown>>
    const output: Record<string, unknown> = {}
    for (const [name, member] of rows) {
      const raw = input[name]
      if (raw === undefined || raw === null || (member.required === undefined && isBlank(raw))) {
        if (member.required) throw fieldError(path + name, member.expected)
        continue
      }
      const read = member.read(raw, path + name)
      if (read === undefined) throw fieldError(path + name, member.expected)
      output[name] = read
    }
    return output as Read<M>
  }
}

const isBlank = (value: unknown) => typeof value === 'string' && value.trim() === ''

const fieldError = (field: string, expected: string) => new SvcError('missing_field', {field, expected})

/**
 * Creates a reader of request bodies with these members.
 * @throws invalid_json if the body is not an object; missing_field; the errors of the members
 */
export function bodyOf<const M extends Members>(members: M): (body: unknown) => Read<M> {
  const read = readerOf(members)
  return (body) => {
    if (!isObject(body))
      throw new SvcError('invalid_json', {reason: body === undefined ? 'it is empty' : 'it is not an object'})
    return read(body)
  }
}
