import type {Random} from '../support/random.js'

/** Random types of the data language, and random values of them. */

/** A type as a tree, from which a later version can be derived. */
export type Shape =
  | {kind: 'int' | 'float' | 'bool' | 'str' | 'dec' | 'bytes' | 'Json' | 'Date' | 'DateTime' | 'Duration'}
  | {kind: 'List' | 'Set' | 'Option' | 'Map'; of: Shape}
  | {kind: 'tuple'; items: Shape[]}
  | {kind: 'record'; fields: Fields}
  | {kind: 'sum'; variants: {name: string; fields: Fields}[]}
export type Fields = {name: string; shape: Shape}[]

export const scalars = ['int', 'float', 'bool', 'str', 'dec', 'bytes', 'Json', 'Date', 'DateTime', 'Duration'] as const
export const names = ['a', 'b', 'c', 'd', 'e', 'f'] as const
export const variantNames = ['Open', 'Shut', 'Held', 'Lost'] as const

export const some = <T>(random: Random, items: readonly T[], least: number): T[] => {
  const chosen = items.filter(() => random.chance(0.5))
  return chosen.length >= least ? chosen : items.slice(0, least)
}

export function shape(random: Random, depth = 0): Shape {
  if (depth > 1 || random.chance(0.55)) return {kind: random.pick(scalars)}
  switch (random.below(5)) {
    case 0:
      return {kind: 'List', of: shape(random, depth + 1)}
    case 1:
      return {kind: 'Set', of: {kind: random.pick(['int', 'str'])}}
    case 2:
      return {kind: 'Map', of: shape(random, depth + 1)}
    case 3:
      return {kind: 'record', fields: fields(random, depth)}
    default:
      return {
        kind: 'sum',
        variants: some(random, variantNames, 1).map((name) => ({
          name,
          fields: random.chance(0.5) ? [] : fields(random, depth),
        })),
      }
  }
}

export const optional = (random: Random, of: Shape): Shape => (random.chance(0.3) ? {kind: 'Option', of} : of)
export const fields = (random: Random, depth: number): Fields =>
  some(random, names.slice(0, 3), 1).map((name) => ({name, shape: optional(random, shape(random, depth + 1))}))

/** Writes types as source text, and the declarations of the named types in them. */
export class TypeWriter {
  /** `type T0 ...`, in the order of their names. */
  readonly declarations: string[] = []

  write(of: Shape): string {
    switch (of.kind) {
      case 'List':
      case 'Set':
      case 'Option':
        return `${of.kind}[${this.write(of.of)}]`
      case 'Map':
        return `Map[str, ${this.write(of.of)}]`
      case 'tuple':
        return `(${of.items.map((item) => this.write(item)).join(', ')})`
      case 'record':
        return this.declare(`{ ${this.fields(of.fields)} }`)
      case 'sum':
        return this.declare(
          `= ${of.variants.map(({name, fields: inner}) => `| ${name}${inner.length === 0 ? '' : `(${this.fields(inner)})`}`).join(' ')}`,
        )
      default:
        return of.kind
    }
  }

  fields(of: Fields): string {
    return of.map(({name, shape: inner}) => `${name}: ${this.write(inner)}`).join(', ')
  }

  /** Declares a type, and returns its name. */
  declare(body: string): string {
    const name = `T${this.declarations.length}`
    this.declarations.push(`type ${name} ${body}`)
    return name
  }
}

const texts = [
  '2024-02-29',
  '2024-02-29T10:00:00.000Z',
  'PT1H',
  '',
  'a',
  '1',
  '1.50',
  '-2',
  'true',
  '[1]',
  '{}',
  'it’s "x"',
  '007',
  '1e3',
  '"x"',
  ' "',
]

/** A value of a type, as JSON. */
export function value(random: Random, of: Shape): unknown {
  const inner = (each: Shape) => value(random, each)
  const record = (of: Fields) =>
    Object.fromEntries(of.map(({name, shape: each}) => [name, inner(each)]).filter(([, found]) => found !== null))
  const several = () => Array.from({length: random.below(3)})
  switch (of.kind) {
    case 'int':
      return random.pick([0, 1, 2, -7, 9_007_199_254_740_991])
    case 'float':
      return random.pick([0, 1, 1.5, -0.1, 1e21])
    case 'bool':
      return random.chance(0.5)
    case 'str':
      return random.pick(texts)
    case 'dec':
      return random.pick(['0', '1.50', '-2', '00.1', '12345678901234567890.1'])
    case 'bytes':
      return random.pick(['', 'AAE=', '/w=='])
    case 'Date':
      return random.pick(['2024-02-29', '0001-01-01', '9999-12-31'])
    case 'DateTime':
      return random.pick(['2024-02-29T10:00:00.000Z', '0001-01-01T00:00:00.000Z'])
    case 'Duration':
      return random.pick(['PT0S', 'P1DT0.001S', '-PT1H'])
    case 'Json':
      return random.pick([1, 'x', true, [1, null], {a: 1, b: null}])
    case 'Option':
      return random.chance(0.4) ? null : inner(of.of)
    case 'List':
      return several().map(() => inner(of.of))
    case 'Set':
      return [...new Set(several().map(() => inner(of.of)))]
    case 'Map':
      return Object.fromEntries(several().map((_, i) => [`k${i}`, inner(of.of)]))
    case 'tuple':
      return of.items.map(inner)
    case 'record':
      return record(of.fields)
    case 'sum': {
      const variant = random.pick(of.variants)
      return {_tag: variant.name, ...record(variant.fields)}
    }
  }
}
