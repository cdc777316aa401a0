import type {Lexer} from '../lexer/lexer.js'
import type {Regex} from '../lexer/regex.js'
import type {Steps} from '../steps.js'
import type {TokenTrie} from './token-trie.js'

/**
 * The tokens within repetitions of an expression, such as the characters of a string, by the number of repetitions that they
 * need. So the places of all counted repetitions of it share one walk of the trie.
 */
export interface Loop {
  /** Whether each byte may begin a repetition. */
  readonly first: Uint8Array
  /** Tokens that stay within repetitions, in the order of the repetitions that they need. */
  readonly tokens: Int32Array
  /** Number of those that need at most as many repetitions as the index. */
  readonly upTo: Int32Array
  /** The same tokens, a bit each. */
  readonly bits: Uint32Array
  /** Nodes that follow a whole number of repetitions and do not begin another one. */
  readonly leaving: Int32Array
  /** The repetitions before each of them. */
  readonly repetitions: Uint16Array
}

export const bytesOfLoop = ({tokens, bits, leaving, upTo}: Loop): number =>
  tokens.byteLength + upTo.byteLength + bits.byteLength + 1.5 * leaving.byteLength + 600

/** States of the longest expression for which a loop is built. */
const maxStates = 64
const refused = -1
/** Nodes of a trie between two places at which the walk can be interrupted. */
const nodesPerSlice = 50_000

/** Transitions of an expression by state and byte; state 0 is the start and the end. */
type Table = readonly Int8Array[]

/** Undefined if a match of the expression may be the beginning of a longer one, or if it has too many states. */
function tableOf({regexes, classes}: Lexer, part: Regex): Table | undefined {
  const states = [part]
  const rows: Int8Array[] = []
  for (let i = 0; i < states.length; i++) {
    const row = new Int8Array(classes.bytes.length).fill(refused)
    for (const [byteClass, byte] of classes.bytes.entries()) {
      const next = regexes.derivative(states[i]!, byte)
      if (next === regexes.nothing) continue
      if (next === regexes.empty) row[byteClass] = 0
      else if (next.nullable) return undefined
      else {
        const known = states.indexOf(next)
        row[byteClass] = known > 0 ? known : states.push(next) - 1
      }
      if (states.length > maxStates) return undefined
    }
    rows.push(Int8Array.from(classes.of, (byteClass) => row[byteClass]!))
  }
  return rows
}

/** Walks the trie within repetitions; undefined if the expression cannot be counted by its bytes. */
export function* loopOf(trie: TokenTrie, lexer: Lexer, part: Regex, words: number): Steps<Loop | undefined> {
  const table = part.plain ? tableOf(lexer, part) : undefined
  if (table === undefined) return undefined
  const {byte, depth, end, token, longest} = trie
  const states = new Int8Array(longest + 1)
  const counts = new Uint16Array(longest + 1)
  const needs = new Uint16Array(trie.size)
  const leaving: number[] = []
  const repetitions: number[] = []
  const upTo = new Int32Array(longest + 1)
  const walkPart = (from: number): number => {
    let at = from
    for (let visited = 0; at < byte.length && visited < nodesPerSlice; visited++) {
      const level = depth[at]!
      const state = states[level]!
      const next = table[state]![byte[at]!]!
      if (next === refused) {
        if (state === 0) {
          leaving.push(at)
          repetitions.push(counts[level]!)
        }
        at = end[at]!
        continue
      }
      const count = state === 0 ? counts[level]! + 1 : counts[level]!
      const own = token[at]!
      if (own >= 0) {
        needs[own] = count
        upTo[count]!++
      }
      states[level + 1] = next
      counts[level + 1] = count
      at++
    }
    return at
  }
  for (let at = walkPart(0); at < byte.length; at = walkPart(at)) yield
  for (let i = 1; i <= longest; i++) upTo[i]! += upTo[i - 1]!
  const tokens = new Int32Array(upTo[longest]!)
  const places = upTo.slice()
  const bits = new Uint32Array(words)
  for (let own = trie.size - 1; own >= 0; own--) {
    const need = needs[own]!
    if (need === 0) continue
    tokens[--places[need]!] = own
    bits[own >>> 5]! |= 1 << (own & 31)
  }
  const first = Uint8Array.from(table[0]!, (next) => (next === refused ? 0 : 1))
  return {first, tokens, upTo, bits, leaving: Int32Array.from(leaving), repetitions: Uint16Array.from(repetitions)}
}

/** Adds the tokens that stay within at most `max` repetitions. */
export function addRepetitions({tokens, upTo, bits}: Loop, max: number, into: Uint32Array): void {
  const count = max < upTo.length ? upTo[max]! : tokens.length
  if (count > tokens.length / 2) {
    const own = count === tokens.length ? bits : bits.slice()
    for (let i = count; i < tokens.length; i++) own[tokens[i]! >>> 5]! &= ~(1 << (tokens[i]! & 31))
    for (let i = 0; i < into.length; i++) into[i]! |= own[i]!
  } else for (let i = 0; i < count; i++) into[tokens[i]! >>> 5]! |= 1 << (tokens[i]! & 31)
}
