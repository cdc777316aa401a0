import {deserialize, serialize} from 'node:v8'
import type {Expression, Grammar} from './grammar.js'
import type {Steps} from './steps.js'

/** A grammar for another thread, in pieces that are read in a few milliseconds each. */
export interface StoredGrammar {
  readonly start: string
  /** Some of the rules, as `v8.serialize` writes a list of names and expressions. In memory that threads share. */
  readonly pieces: readonly Uint8Array[]
  /** Size of all pieces. */
  readonly bytes: number
}

const rulesPerPiece = 500

export function* storeGrammar({start, rules}: Grammar): Steps<StoredGrammar> {
  const all = [...rules]
  const pieces: Uint8Array[] = []
  for (let at = 0; at < all.length; at += rulesPerPiece) {
    const written = serialize(all.slice(at, at + rulesPerPiece))
    const piece = new Uint8Array(new SharedArrayBuffer(written.length))
    piece.set(written)
    pieces.push(piece)
    yield
  }
  return {start, pieces, bytes: pieces.reduce((sum, {length}) => sum + length, 0)}
}

export function* readGrammar({start, pieces}: StoredGrammar): Steps<Grammar> {
  const rules = new Map<string, Expression>()
  for (const piece of pieces) {
    for (const [name, rule] of deserialize(piece) as [string, Expression][]) rules.set(name, rule)
    yield
  }
  return {start, rules}
}
