type Schema = boolean | Record<string, unknown>

const names = ['a', 'b', 'c']
const texts = ['', 'a', 'b', 'ab', 'a-1', '😀']
const numbers = [-2, -0.5, 0, 1, 1.5, 2, 3, 10]
const patterns = ['^a', 'b$', '^[a-c]{1,2}$', '(?!a)', '\\d', '(a)\\1', '^.{0,3}$', '[']
const formats = ['date', 'ipv4', 'uuid', 'regex', 'unknown']

/** Random schemas and values over few names, texts and numbers, so that values often satisfy schemas. */
export function randomSchemas(uniform: () => number) {
  const below = (count: number) => Math.floor(uniform() * count)
  const pick = <T>(options: readonly T[]): T => options[below(options.length)]!
  const some = <T>(make: () => T, max: number): T[] => Array.from({length: 1 + below(max)}, make)
  const named = (make: () => unknown) => Object.fromEntries(some(() => pick(names), 3).map((name) => [name, make()]))
  const unique = <T>(values: readonly T[]): T[] => [...new Set(values)]

  const value = (depth: number): unknown => {
    const kind = below(depth === 0 ? 4 : 7)
    if (kind < 2) return kind === 0 ? pick(texts) : pick(numbers)
    if (kind < 4) return kind === 2 ? null : uniform() < 0.5
    if (kind === 4) return Array.from({length: below(4)}, () => value(depth - 1))
    return Object.fromEntries(Array.from({length: below(4)}, () => [pick([...names, 'd']), value(depth - 1)]))
  }

  const keywords = (next: () => Schema): readonly (readonly [string, () => unknown])[] => [
    [
      'type',
      () => pick<unknown>(['object', 'array', 'string', 'integer', 'number', ['object', 'null'], ['array', 'string']]),
    ],
    ['enum', () => some(() => value(1), 4)],
    ['const', () => value(1)],
    ['minimum', () => pick(numbers)],
    ['exclusiveMaximum', () => pick(numbers)],
    ['multipleOf', () => pick([1, 2, 3, 0.5, 0.01])],
    ['minLength', () => below(3)],
    ['maxLength', () => below(4)],
    ['pattern', () => pick(patterns)],
    ['format', () => pick(formats)],
    ['items', next],
    ['prefixItems', () => some(next, 2)],
    ['contains', next],
    ['minItems', () => below(3)],
    ['maxItems', () => below(4)],
    ['uniqueItems', () => uniform() < 0.5],
    ['unevaluatedItems', next],
    ['properties', () => named(next)],
    ['properties', () => named(next)],
    ['required', () => unique(some(() => pick(names), 2))],
    ['additionalProperties', () => (uniform() < 0.5 ? false : next())],
    ['patternProperties', () => ({[pick(patterns)]: next()})],
    ['propertyNames', () => ({pattern: pick(patterns)})],
    ['minProperties', () => below(3)],
    ['maxProperties', () => below(4)],
    ['unevaluatedProperties', () => (uniform() < 0.7 ? false : next())],
    ['dependentRequired', () => ({[pick(names)]: [pick(names)]})],
    ['dependentSchemas', () => named(next)],
    ['anyOf', () => some(next, 3)],
    ['oneOf', () => some(next, 3)],
    ['allOf', () => some(next, 2)],
    ['not', next],
    ['if', next],
    ['then', next],
    ['else', next],
    ['$ref', () => pick(['#/$defs/x', '#/$defs/y', '#', '#/$defs/none', 'https://example.com/other'])],
    ['minLength', () => pick<unknown>([-1, 'a', null])],
  ]

  const schema = (depth: number): Schema => {
    if (depth === 0) return uniform() < 0.2 ? uniform() < 0.7 : {type: pick(['string', 'integer', 'null', 'boolean'])}
    const all = keywords(() => schema(depth - 1))
    // The last keyword is invalid; it is rare.
    const count = uniform() < 0.02 ? all.length : all.length - 1
    return Object.fromEntries(some(() => all[below(count)]!, 4).map(([keyword, make]) => [keyword, make()]))
  }

  return {
    schema: (depth: number): Schema => {
      const root = schema(depth)
      return typeof root === 'boolean' ? root : {...root, $defs: {x: schema(1), y: schema(2)}}
    },
    value: () => value(2),
  }
}
