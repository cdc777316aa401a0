import type {Node, Pair} from 'yaml'
import {inexact, isExact} from './exact-json.js'

/** Maximum number of values that the aliases of a document stand for. */
export const maxAliasedValues = 1_000_000

/** A range of a text: offsets in UTF-16 code units, end exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** A document, and where its values are in the source. */
export interface LocatedDocument {
  readonly value: unknown
  /** The range of the value at a path of keys and indexes, or of its key; of the deepest part that exists. */
  locate(path: readonly (string | number)[], part?: 'key' | 'value'): Range
}

/**
 * Parses a YAML document. Aliases are expanded, and refused if they stand for too many values: a document of a few lines can
 * have aliases of aliases for billions. Merge keys (`<<`) are supported. Integers beyond 2^53 are refused, as in `parseExactJson`.
 * @throws SyntaxError; YAMLParseError of the library
 */
export const parseYaml = async (source: string): Promise<unknown> => (await readYaml(source)).value

/** The same, with the places of the values. @throws SyntaxError; YAMLParseError of the library */
export async function readYaml(source: string): Promise<LocatedDocument> {
  const yaml = await import('yaml')
  const document = yaml.parseDocument(source, {intAsBigInt: true, merge: true})
  for (const error of document.errors) throw error
  document.contents = expanded(document.contents, yaml, source) as typeof document.contents
  const value: unknown = document.toJS({
    reviver: (key, value) => (typeof value === 'bigint' ? exactNumber(value, key) : value),
  })
  return {value, locate: (path, part = 'value') => rangeOf(document.contents, path, part, yaml)}
}

function rangeOf(
  root: Item,
  path: readonly (string | number)[],
  part: 'key' | 'value',
  {isMap, isSeq, isScalar}: typeof import('yaml'),
): Range {
  let [key, value]: Item[] = [null, root]
  for (const segment of path) {
    const pair = isMap(value)
      ? value.items.find((item) => isScalar(item.key) && String(item.key.value) === String(segment))
      : undefined
    const item = isSeq(value) ? (value.items[Number(segment)] as Item | undefined) : pair?.value
    if (item === undefined) break
    key = (pair?.key ?? null) as Item
    value = item as Item
  }
  const node = ((part === 'key' ? key : null) ?? value ?? key) as Node | null
  const [start = 0, end = start] = node?.range ?? []
  return {start, end}
}

/** The range that an error of `readYaml` refers to, and its message without the place. */
export function yamlFault(error: Error): Range & {message: string} {
  const [start = 0, end = start] = (error as {pos?: [number, number]}).pos ?? []
  return {start, end, message: (error.message.split('\n')[0] ?? '').replace(/( at line \d+, column \d+)?:?$/, '')}
}

type Item = Node | Pair | null

/** Replaces each alias by the node that it stands for. @throws SyntaxError */
function expanded(root: Item, {isAlias, isCollection, isPair}: typeof import('yaml'), source: string): Item {
  /** The latest node of each anchor, and the number of its values; undefined while it is read. */
  const anchors = new Map<string, {node: Node; size: number} | undefined>()
  let aliased = 0
  const place = (node: Node) => `line ${source.slice(0, node.range?.[0] ?? 0).split('\n').length}`
  const expand = (item: Item): {item: Item; size: number} => {
    if (item === null || typeof item !== 'object') return {item, size: 0}
    if (isAlias(item)) {
      const name = item.source
      const target = anchors.get(name)
      if (target === undefined) {
        const reason = anchors.has(name) ? 'is inside the value of its own anchor' : 'has no anchor before it'
        throw new SyntaxError(`the alias *${name} ${reason} (${place(item)})`)
      }
      aliased += target.size
      if (aliased > maxAliasedValues)
        throw new SyntaxError(`the aliases stand for more than ${maxAliasedValues} values (${place(item)})`)
      return {item: target.node, size: target.size}
    }
    if (isPair(item)) {
      const key = expand(item.key as Item)
      const value = expand(item.value as Item)
      item.key = key.item
      item.value = value.item
      return {item, size: key.size + value.size}
    }
    const node = item as Node & {anchor?: string}
    const {anchor} = node
    if (anchor !== undefined) anchors.set(anchor, undefined)
    let size = 1
    if (isCollection(node))
      node.items = node.items.map((inner) => {
        const part = expand(inner as Item)
        size += part.size
        return part.item
      })
    if (anchor !== undefined) anchors.set(anchor, {node, size})
    return {item: node, size}
  }
  return expand(root).item
}

function exactNumber(value: bigint, key: unknown): number {
  if (!isExact(Number(value))) throw new SyntaxError(`${inexact(String(value))} (at ${String(key)})`)
  return Number(value)
}
