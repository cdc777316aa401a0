import type {Schema} from '../../../src/contracts/index.js'

interface Sampled {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minItems?: number
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
}

/** Strings that match the patterns of inputs. */
const words = ['x', '1', 'OP-000001', 'a/b', '00000000-0000-4000-8000-000000000000', '2026-01-01T00:00:00Z']

/**
 * A value that matches a schema, with all members or only with the required ones.
 * @throws TypeError if no sample string matches a pattern
 */
export function sample(schema: Schema, how: 'full' | 'least'): unknown {
  const rules: Sampled = schema
  if ('const' in rules) return rules.const
  if (rules.enum !== undefined) return rules.enum[0]
  const [either] = rules.anyOf ?? rules.oneOf ?? []
  if (either !== undefined) return sample({...rules, anyOf: undefined, oneOf: undefined, ...either}, how)
  const [type] = [rules.type ?? (rules.properties === undefined ? 'string' : 'object')].flat()
  switch (type) {
    case 'object':
      return sampleObject(rules, how)
    case 'array':
      return Array.from({length: Math.max(rules.minItems ?? 0, how === 'full' ? 1 : 0)}, () =>
        sample(rules.items ?? {}, how),
      )
    case 'integer':
    case 'number':
      return Math.min(Math.max(1, rules.minimum ?? 1), rules.maximum ?? 1)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return sampleText(rules)
  }
}

function sampleObject({properties = {}, required = []}: Sampled, how: 'full' | 'least'): Record<string, unknown> {
  const names = how === 'full' ? Object.keys(properties) : required
  return Object.fromEntries(names.map((name) => [name, sample(properties[name] ?? {}, how)]))
}

function sampleText({pattern, minLength = 0}: Sampled): string {
  const found = words.find(
    (word) => word.length >= minLength && (pattern === undefined || new RegExp(pattern, 'u').test(word)),
  )
  if (found !== undefined) return found
  throw new TypeError(`no sample string matches ${pattern}`)
}
