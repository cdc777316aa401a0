import {type Node, parseTree} from 'jsonc-parser'
import type {CompiledGrammar} from '../../../src/grammar/index.js'

/** An instance as a tree that keeps the spelling of its numbers. */
export type Instance =
  | {readonly kind: 'scalar'; readonly text: string}
  | {readonly kind: 'array'; readonly items: readonly Instance[]}
  | {readonly kind: 'object'; readonly pairs: readonly (readonly [key: string, value: Instance])[]}

/** The instances of the tests of a file of MaskBench. */
export function instancesOf(source: string): Instance[] {
  const tests = property(parseTree(source)!, 'tests')?.children ?? []
  return tests.map((test) => instanceOf(property(test, 'data')!, source))
}

const property = (node: Node, name: string): Node | undefined =>
  node.children?.find(({children}) => children?.[0]?.value === name)?.children?.[1]

function instanceOf(node: Node, source: string): Instance {
  const children = node.children ?? []
  if (node.type === 'array') return {kind: 'array', items: children.map((child) => instanceOf(child, source))}
  if (node.type === 'object') {
    return {
      kind: 'object',
      pairs: children.map(
        (pair) => [String(pair.children![0]!.value), instanceOf(pair.children![1]!, source)] as const,
      ),
    }
  }
  const text =
    node.type === 'number' ? source.slice(node.offset, node.offset + node.length) : JSON.stringify(node.value)
  return {kind: 'scalar', text}
}

/** The text that MaskBench checks: `json.dumps` of Python, with a space after commas and colons. */
export function instanceText(instance: Instance): string {
  if (instance.kind === 'scalar') return instance.text
  if (instance.kind === 'array') return `[${instance.items.map(instanceText).join(', ')}]`
  return `{${instance.pairs.map(([key, value]) => `${JSON.stringify(key)}: ${instanceText(value)}`).join(', ')}}`
}

/** True if a text matches, or begins one that does. */
export function accepts(compiled: CompiledGrammar, text: string, isWhole: boolean): boolean {
  const matcher = compiled.matcher()
  return matcher.accept(Buffer.from(text)) && (!isWhole || matcher.isAccepting())
}

/**
 * The text of an instance with its properties in an order that the grammar accepts; undefined if there is none. MaskBench
 * orders its instances with the grammars of llguidance: an instance of a schema that llguidance refuses has
 * the order of the model that wrote it.
 */
export function reorderedText(compiled: CompiledGrammar, instance: Instance): string | undefined {
  const search: Search = {compiled, left: maxAttempts}
  for (const text of texts(search, '', instance)) if (accepts(compiled, text, true)) return text
  return undefined
}

const maxAttempts = 2000

interface Search {
  readonly compiled: CompiledGrammar
  /** Attempts that are left. */
  left: number
}

/** The text so far with the instance appended, in each order that is accepted. */
function* texts(search: Search, before: string, instance: Instance): Generator<string> {
  if (instance.kind === 'scalar') yield* extended(search, before, instance.text)
  else if (instance.kind === 'array') {
    for (const text of extended(search, before, '[')) yield* itemTexts(search, text, instance.items, '')
  } else for (const text of extended(search, before, '{')) yield* pairTexts(search, text, instance.pairs, '')
}

function* itemTexts(search: Search, before: string, items: readonly Instance[], separator: string): Generator<string> {
  const [item, ...others] = items
  if (item === undefined) return yield* extended(search, before, ']')
  for (const text of texts(search, before + separator, item)) yield* itemTexts(search, text, others, ', ')
}

function* pairTexts(
  search: Search,
  before: string,
  pairs: readonly (readonly [string, Instance])[],
  separator: string,
): Generator<string> {
  if (pairs.length === 0) return yield* extended(search, before, '}')
  for (const pair of pairs) {
    for (const start of extended(search, before, `${separator}${JSON.stringify(pair[0])}: `)) {
      for (const text of texts(search, start, pair[1])) {
        yield* pairTexts(
          search,
          text,
          pairs.filter((each) => each !== pair),
          ', ',
        )
      }
    }
  }
}

function* extended(search: Search, text: string, more: string): Generator<string> {
  if (search.left-- > 0 && accepts(search.compiled, text + more, false)) yield text + more
}
