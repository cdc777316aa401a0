import type {Pattern} from '../grammar.js'
import {both, either, not, text} from '../pattern/build.js'
import {isEmptyPattern} from '../pattern/empty.js'
import {matchesText} from '../pattern/match.js'
import type {JsonObject, SchemaDocument, Subschema} from './document.js'
import type {Flat, Leaf} from './flat.js'
import {tooLarge} from './keywords.js'
import {patternOf} from './patterns.js'

/** Names of properties that no subschema distinguishes: one name, or all that match the same patterns. */
export interface NameClass {
  /** A name that is declared or required. */
  readonly name?: string
  /** Regular expressions of `patternProperties` that the names match. */
  readonly sources: ReadonlySet<string>
  readonly pattern: Pattern
}

const maxPatterns = 12

const propertiesOf = ({schema}: Leaf): JsonObject => (schema.keywords.properties as JsonObject | undefined) ?? {}
const patternsOf = ({schema}: Leaf): readonly string[] =>
  Object.keys((schema.keywords.patternProperties as JsonObject | undefined) ?? {})

/**
 * Names in the order in which they are written. First are those of `properties`, in the order of the document; a
 * subschema that is applied in place counts where it is applied. Then others that are required.
 */
export function declaredNames({leaves}: Flat): readonly string[] {
  const placed = leaves.map((leaf) => ({names: Object.keys(propertiesOf(leaf)), place: placeOfProperties(leaf)}))
  const names = placed.toSorted((a, b) => comparePlaces(a.place, b.place)).flatMap((each) => each.names)
  return [...new Set([...names, ...requiredNames(leaves)])]
}

const placeOfProperties = ({schema, place}: Leaf): readonly number[] => [
  ...place,
  Object.keys(schema.keywords).indexOf('properties'),
]

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((position, i) => position !== b[i])
  return index === -1 ? -1 : (a[index] ?? 0) - (b[index] ?? 0)
}

export const requiredNames = (leaves: readonly Leaf[]): ReadonlySet<string> =>
  new Set(leaves.flatMap(({schema}) => (schema.keywords.required as string[] | undefined) ?? []))

/** The class of one name. */
export function classOfName({leaves}: Flat, name: string): NameClass {
  const sources = leaves.flatMap((leaf) =>
    patternsOf(leaf).filter((source) => matchesText(patternOf(leaf.schema, 'patternProperties', source), name)),
  )
  return {name, sources: new Set(sources), pattern: text(name)}
}

/** The classes of all other names: by the sets of patterns that they match. Classes without names are left out. */
export function otherClasses(flat: Flat, names: readonly string[]): readonly NameClass[] {
  const patterns = new Map<string, Pattern>()
  for (const leaf of flat.leaves) {
    for (const source of patternsOf(leaf)) {
      patterns.set(source, patternOf(leaf.schema, 'patternProperties', source))
      if (patterns.size > maxPatterns) throw tooLarge(leaf.schema, 'patternProperties', `${maxPatterns} patterns`)
    }
  }
  const undeclared = names.length === 0 ? both() : not(either(...names.map(text)))
  let classes: NameClass[] = [{sources: new Set(), pattern: undeclared}]
  for (const [source, pattern] of patterns) {
    classes = classes.flatMap(({sources, pattern: rest}) =>
      [
        {sources: new Set([...sources, source]), pattern: both(rest, pattern)},
        {sources, pattern: both(rest, not(pattern))},
      ].filter((each) => !isEmptyPattern(each.pattern)),
    )
  }
  return classes
}

/** The subschemas that the values of a class of names must satisfy. */
export function propertySchemas(document: SchemaDocument, {leaves}: Flat, names: NameClass): readonly Subschema[] {
  const schemas = new Set<Subschema>()
  for (const leaf of leaves) {
    const {schema} = leaf
    const keywords = directKeywords(leaf, names)
    for (const path of keywords) schemas.add(document.child(schema, ...path))
  }
  for (const {schema} of leaves) {
    if (schema.keywords.unevaluatedProperties === undefined) continue
    const isEvaluated = leaves.some((leaf) => evaluates(leaf, schema, names))
    if (!isEvaluated) schemas.add(document.child(schema, 'unevaluatedProperties'))
  }
  return [...schemas]
}

/** Paths of the subschemas of a leaf that apply to the names. */
function directKeywords(leaf: Leaf, {name, sources}: NameClass): readonly (readonly string[])[] {
  const paths: string[][] = []
  if (name !== undefined && Object.hasOwn(propertiesOf(leaf), name)) paths.push(['properties', name])
  for (const source of patternsOf(leaf)) if (sources.has(source)) paths.push(['patternProperties', source])
  if (paths.length === 0 && leaf.schema.keywords.additionalProperties !== undefined)
    paths.push(['additionalProperties'])
  return paths
}

/** True if a leaf is part of a subschema and evaluates the properties. */
function evaluates(leaf: Leaf, schema: Subschema, names: NameClass): boolean {
  if (leaf.schema !== schema && !leaf.evaluatesFor.has(schema.id)) return false
  if (leaf.schema !== schema && leaf.schema.keywords.unevaluatedProperties !== undefined) return true
  return directKeywords(leaf, names).length > 0
}
