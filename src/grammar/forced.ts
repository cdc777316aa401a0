import {stateAfter} from './compile.js'
import type {Automaton, State} from './parser/automaton.js'
import {bytesOfToken, findNode, type TokenTrie} from './vocabulary/token-trie.js'

/** Most bytes that are looked ahead. */
const maxForced = 4096

/** The longest text with which every continuation begins, up to a limit. @throws grammar_limit */
export function forcedBytes(automaton: Automaton, from: State): Uint8Array {
  const bytes: number[] = []
  let state = from
  while (bytes.length < maxForced) {
    const byte = onlyByte(automaton, state)
    const next = byte === undefined ? null : automaton.step(state, byte)
    if (next === null) break
    bytes.push(byte!)
    state = next
  }
  return Uint8Array.from(bytes)
}

/** The byte with which every continuation begins; undefined if there are several, or none need follow. */
function onlyByte(automaton: Automaton, state: State): number | undefined {
  if (state.accepting) return undefined
  if (state.nested.length > 0) return onlyStep(automaton, state)
  let only: number | undefined
  for (const {state: lexerState} of state.entries)
    for (const {first} of lexerState.rests) {
      if (first === -1 || (only !== undefined && first !== only)) return onlyStep(automaton, state)
      only = first
    }
  return only
}

function onlyStep(automaton: Automaton, state: State): number | undefined {
  const first = automaton.first(state)
  const byte = first.indexOf(1)
  return byte === -1 || first.indexOf(1, byte + 1) !== -1 ? undefined : byte
}

/**
 * Tokens of a forced text that the tokenizer would also produce within a longer text. Those at the end are left out if
 * another token could cover them together with what follows.
 * @param encode the tokens of a text; they must cover its bytes
 * @throws grammar_limit
 */
export function forcedTokens(
  automaton: Automaton,
  from: State,
  trie: TokenTrie,
  encode: (text: string) => readonly number[],
): number[] {
  const bytes = wholeCharacters(forcedBytes(automaton, from))
  if (bytes.length === 0) return []
  const tokens = encode(Buffer.from(bytes).toString())
  const lengths = tokens.map((token) => bytesOfToken(trie, token).length)
  if (Buffer.compare(Buffer.concat(tokens.map((token) => bytesOfToken(trie, token))), bytes) !== 0) return []
  const after = stateAfter(automaton, from, bytes)!
  let at = 0
  let count = 0
  while (count < tokens.length && !canExtend(automaton, after, trie, bytes.subarray(at))) at += lengths[count++]!
  return tokens.slice(0, count)
}

/** The bytes without the beginning of a character at their end. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let start = bytes.length
  while (start > 0 && (bytes[start - 1]! & 0xc0) === 0x80) start--
  if (start === 0) return bytes.subarray(0, 0)
  const lead = bytes[start - 1]!
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  return start - 1 + length <= bytes.length ? bytes : bytes.subarray(0, start - 1)
}

/** Whether a token begins with the bytes and continues with what a state allows. */
function canExtend(automaton: Automaton, after: State, trie: TokenTrie, bytes: Uint8Array): boolean {
  const node = bytes.length > trie.longest ? -1 : findNode(trie, bytes)
  if (node === -1) return false
  const {byte, depth, end, token} = trie
  const states: State[] = []
  states[depth[node]! + 1] = after
  for (let at = node + 1; at < end[node]!; ) {
    const next = automaton.step(states[depth[at]!]!, byte[at]!)
    if (next !== null && token[at]! >= 0) return true
    if (next !== null) states[depth[at]! + 1] = next
    at = next === null ? end[at]! : at + 1
  }
  return false
}
