import {SvcError} from '../../errors/index.js'

/** A member of a body: what it must be, and how it is taken from JSON. */
export interface Member<T> {
  /** After "takes": `a text of up to 256 characters`. */
  expected: string
  /**
   * The value as it goes on; undefined where it is not what is expected.
   * @param field its path in the body: `capabilities.cpu_cores`
   */
  read(value: unknown, field: string): T | undefined
  required?: true
}

export type Members = Readonly<Record<string, Member<unknown>>>

type Value<M> = M extends Member<infer T> ? T : never
type RequiredNames<M extends Members> = {[K in keyof M]: M[K] extends {required: true} ? K : never}[keyof M]

/** What a table of members reads: those that must be there, and those that may. */
export type Read<M extends Members> = {-readonly [K in RequiredNames<M>]: Value<M[K]>} & {
  -readonly [K in Exclude<keyof M, RequiredNames<M>>]?: Value<M[K]>
}

/** Nothing is read without it. */
export const must = <T>(member: Member<T>): Member<T> & {required: true} => ({...member, required: true})

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A reader of objects with these members. Other members are left out of what it gives; one that is null, or a blank
 * text where none is needed, counts as absent.
 * @throws missing_field; what a member throws
 */
export function readerOf<const M extends Members>(members: M): (value: object, path?: string) => Read<M> {
  const rows = Object.entries(members)
  return (value, path = '') => {
    const given = value as Readonly<Record<string, unknown>>
    const taken: Record<string, unknown> = {}
    for (const [name, member] of rows) {
      const raw = given[name]
      if (raw === undefined || raw === null || (member.required === undefined && isBlank(raw))) {
        if (member.required) throw fault(path + name, member.expected)
        continue
      }
      const read = member.read(raw, path + name)
      if (read === undefined) throw fault(path + name, member.expected)
      taken[name] = read
    }
    return taken as Read<M>
  }
}

const isBlank = (value: unknown) => typeof value === 'string' && value.trim() === ''

const fault = (field: string, expected: string) => new SvcError('missing_field', {field, expected})

/**
 * A reader of bodies with these members.
 * @throws invalid_json where the body is no object; missing_field; what a member throws
 */
export function bodyOf<const M extends Members>(members: M): (body: unknown) => Read<M> {
  const read = readerOf(members)
  return (body) => {
    if (!isObject(body))
      throw new SvcError('invalid_json', {reason: body === undefined ? 'it is empty' : 'it is no object'})
    return read(body)
  }
}
