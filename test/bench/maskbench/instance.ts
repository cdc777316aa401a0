import {type Node, parseTree} from 'jsonc-parser'
import {stateAfter} from '../../../src/grammar/compile.js'
import type {CompiledGrammar} from '../../../src/grammar/index.js'

/** An instance as a tree that keeps the spelling of its numbers. */
export type Instance =
  | {readonly kind: 'scalar'; readonly text: string}
  | {readonly kind: 'array'; readonly items: readonly Instance[]}
  | {readonly kind: 'object'; readonly pairs: readonly Pair[]}

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

/** True if a text matches. */
export function accepts({automaton}: CompiledGrammar, text: string): boolean {
  return stateAfter(automaton, automaton.start, Buffer.from(text))?.accepting === true
}

/**
 * True if the grammar accepts an instance with its properties in some order. MaskBench orders its instances with the grammars
 * of llguidance: an instance of a schema that llguidance refuses has the order of the model that wrote it.
 */
export function acceptsReordered({automaton}: CompiledGrammar, instance: Instance): boolean {
  const search: Search = {automaton, left: maxAttempts}
  for (const state of states(search, automaton.start, instance)) if (state.accepting) return true
  return false
}

const maxAttempts = 20_000

interface Search {
  readonly automaton: CompiledGrammar['automaton']
  /** Attempts that are left. */
  left: number
}

type State = CompiledGrammar['automaton']['start']

/** The states after an instance, in each order that is accepted. */
function* states(search: Search, before: State, instance: Instance): Generator<State> {
  if (instance.kind === 'scalar') yield* after(search, before, instance.text)
  else if (instance.kind === 'array') {
    for (const state of after(search, before, '[')) yield* afterItems(search, state, instance.items, '')
  } else for (const state of after(search, before, '{')) yield* afterPairs(search, state, instance.pairs, '')
}

function* afterItems(search: Search, before: State, items: readonly Instance[], separator: string): Generator<State> {
  const [item, ...others] = items
  if (item === undefined) return yield* after(search, before, ']')
  for (const start of after(search, before, separator)) {
    for (const state of states(search, start, item)) yield* afterItems(search, state, others, ', ')
  }
}

type Pair = readonly [key: string, value: Instance]

/** The states after pairs in each order that is accepted. Pairs after which all others are still possible come first. */
function* afterPairs(search: Search, before: State, pairs: readonly Pair[], separator: string): Generator<State> {
  if (pairs.length === 0) return yield* after(search, before, '}')
  const starts = pairs.flatMap((pair) => {
    const [start] = after(search, before, `${separator}${JSON.stringify(pair[0])}: `)
    return start === undefined ? [] : [{pair, start}]
  })
  const later: Generator<State>[] = []
  for (const {pair, start} of starts) {
    const found = states(search, start, pair[1])
    const {value: first, done} = found.next()
    if (done === true) continue
    const others = pairs.filter((each) => each !== pair)
    const isFirst = starts.every((each) => each.pair === pair || isAccepted(search, first, each.pair[0]))
    if (isFirst) yield* afterPairs(search, first, others, ', ')
    else later.push(afterPairs(search, first, others, ', '))
    later.push(afterAny(search, found, others))
  }
  for (const rest of later) yield* rest
}

/** The states after the pairs that follow any of some states. */
function* afterAny(search: Search, befores: Iterable<State>, pairs: readonly Pair[]): Generator<State> {
  for (const before of befores) yield* afterPairs(search, before, pairs, ', ')
}

const isAccepted = (search: Search, state: State, key: string): boolean =>
  after(search, state, `, ${JSON.stringify(key)}: `).next().done !== true

function* after(search: Search, before: State, text: string): Generator<State> {
  const state = search.left-- > 0 ? stateAfter(search.automaton, before, Buffer.from(text)) : null
  if (state !== null) yield state
}
