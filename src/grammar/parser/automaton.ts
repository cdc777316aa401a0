import type {Lexer, LexerState} from '../lexer/lexer.js'
import {type Column, Columns, type Ending} from './column.js'
import type {Productions} from './from-grammar.js'

/** Lexemes that began at a column and have not ended. */
export interface Entry {
  readonly column: Column
  readonly state: LexerState
}

/** A place in a text. It depends only on what may follow, so that places with the same future are the same object. */
export interface State {
  readonly id: number
  readonly entries: readonly Entry[]
  /** Whether the text so far is complete. */
  readonly accepting: boolean
  /** The first class of bytes whose state was computed, or -1, and that state: most states need no other. */
  onlyClass: number
  only: State | null
  /** States after bytes of other classes, `null` if the byte is refused; computed on demand. */
  next: Map<number, State | null> | undefined
  /** Whether each class of bytes may follow; computed on demand. */
  first: Uint8Array | undefined
  /** The state with counts beyond the longest token; computed on demand. */
  clamped: State | undefined
  generation: number
}

/** A recogniser of bytes, whose states are created on demand and kept until `forget`. */
export class Automaton {
  readonly #productions: Productions
  readonly #columns: Columns
  #states = new Map<string, State>()
  #ids = 0
  generation = 0
  readonly start: State

  constructor(productions: Productions) {
    this.#productions = productions
    this.#columns = new Columns(productions)
    this.start = this.#state(entriesOf(this.#columns.start), this.#columns.start.accepting)
  }

  get lexer(): Lexer {
    return this.#productions.lexer
  }

  /** Steps of work so far: derivatives, items and states. */
  get steps(): number {
    return this.lexer.steps + this.#columns.steps + this.#ids
  }

  /** Approximate memory of what is kept for reuse, bytes. */
  get bytes(): number {
    return this.lexer.bytes + this.#columns.bytes + 600 * this.#states.size
  }

  /** Stops reusing the states so far, so that those that are not in use can be collected. */
  forget(): void {
    this.#states = new Map()
    this.#columns.forget()
    this.lexer.forget()
    this.generation++
  }

  /** The state after a byte; `null` if no text of the grammar continues with it. @throws grammar_limit */
  step(state: State, byte: number): State | null {
    const byteClass = this.lexer.classes.of[byte]!
    this.#refresh(state)
    if (state.onlyClass === byteClass) return state.only
    let next = state.next?.get(byteClass)
    if (next !== undefined) return next
    next = this.#after(state, byteClass)
    if (state.onlyClass === -1) {
      state.onlyClass = byteClass
      state.only = next
      return next
    }
    state.next ??= new Map()
    state.next.set(byteClass, next)
    return next
  }

  /** Whether each class of bytes may follow, without creating the states after them. @throws grammar_limit */
  first(state: State): Uint8Array {
    this.#refresh(state)
    state.first ??= Uint8Array.from(this.lexer.classes.bytes, (_, byteClass) =>
      state.entries.some((entry) => this.lexer.step(entry.state, byteClass) !== null) ? 1 : 0,
    )
    return state.first
  }

  /** The state after lexemes that ended at the same place, without others that continue there. @throws grammar_limit */
  afterLexemes(ending: Ending): State {
    const column = this.#columns.after([ending])
    return this.#state(entriesOf(column), column.accepting)
  }

  /** A state that differs from the given one only in lexemes longer than `length`. */
  clamp(state: State, length: number): State {
    this.#refresh(state)
    if (state.clamped === undefined) {
      const entries = state.entries.map(({column, state: own}) => ({column, state: this.lexer.clamp(own, length)}))
      const isSame = entries.every((each, i) => each.state === state.entries[i]!.state)
      state.clamped = isSame ? state : this.#state(entries, state.accepting)
    }
    return state.clamped
  }

  #refresh(state: State): void {
    if (state.generation === this.generation) return
    state.onlyClass = -1
    state.next = undefined
    state.clamped = undefined
    state.generation = this.generation
  }

  #after(state: State, byteClass: number): State | null {
    const entries: Entry[] = []
    const endings: Ending[] = []
    for (const entry of state.entries) {
      const next = this.lexer.step(entry.state, byteClass)
      if (next === null) continue
      if (next.ended !== undefined) endings.push({column: entry.column, ended: next.ended})
      if (next.lexemes.length > 0) entries.push({column: entry.column, state: next})
    }
    if (endings.length === 0) return entries.length === 0 ? null : this.#state(entries, false)
    const column = this.#columns.after(endings)
    return this.#state([...entries, ...entriesOf(column)], column.accepting)
  }

  #state(entries: readonly Entry[], accepting: boolean): State {
    const sorted =
      entries.length < 2 ? entries : [...entries].sort((a, b) => a.column.id - b.column.id || a.state.id - b.state.id)
    let key = accepting ? '+' : ''
    for (const {column, state} of sorted) key += `${column.id}:${state.id},`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state: State = {
      id: this.#ids++,
      entries: sorted,
      accepting,
      onlyClass: -1,
      only: null,
      next: undefined,
      first: undefined,
      clamped: undefined,
      generation: this.generation,
    }
    this.#states.set(key, state)
    return state
  }
}

const entriesOf = (column: Column): Entry[] => (column.lexemes === undefined ? [] : [{column, state: column.lexemes}])
