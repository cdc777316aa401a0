import type {LexerState} from '../lexer/lexer.js'
import {type Column, Columns, type Ending} from './column.js'
import type {Productions} from './from-grammar.js'

/** Lexemes that began at a column and have not ended. */
export interface Entry {
  readonly column: Column
  readonly state: LexerState
}

/** A place in a text: what may follow. It depends only on what may follow, not on the text. */
export interface State {
  readonly id: number
  readonly entries: readonly Entry[]
  /** Whether the text so far is complete. */
  readonly accepting: boolean
  /** States after bytes, by their class, `null` if the byte is refused; computed on demand. */
  next: Map<number, State | null>
  generation: number
}

/** A recogniser of bytes, whose states are created on demand and kept until there are too many. */
export class Automaton {
  readonly #productions: Productions
  readonly #columns: Columns
  #states = new Map<string, State>()
  #ids = 0
  #generation = 0
  readonly start: State

  constructor(productions: Productions) {
    this.#productions = productions
    this.#columns = new Columns(productions)
    this.start = this.#state(entriesOf(this.#columns.start), this.#columns.start.accepting)
  }

  get lexer() {
    return this.#productions.lexer
  }

  /** Steps of work so far: derivatives, items and states. */
  get steps(): number {
    return this.lexer.steps + this.#columns.steps + this.#ids
  }

  /** The state after a byte; `null` if no text of the grammar continues with it. @throws grammar_limit */
  step(state: State, byte: number): State | null {
    const byteClass = this.lexer.classes.of[byte]!
    if (state.generation !== this.#generation) {
      state.next = new Map()
      state.generation = this.#generation
    }
    let next = state.next.get(byteClass)
    if (next === undefined) {
      next = this.#after(state, byteClass)
      state.next.set(byteClass, next)
    }
    return next
  }

  /** The state after lexemes that ended at the same place, without others that continue there. */
  afterLexemes(ending: Ending): State {
    const column = this.#columns.after([ending])
    return this.#state(entriesOf(column), column.accepting)
  }

  #after(state: State, byteClass: number): State | null {
    const entries: Entry[] = []
    const endings: Ending[] = []
    for (const entry of state.entries) {
      const next = this.lexer.step(entry.state, byteClass)
      if (next === null) continue
      if (next.ended.length > 0) endings.push({column: entry.column, state: next})
      if (next.lexemes.length > 0) entries.push({column: entry.column, state: next})
    }
    if (endings.length === 0) return entries.length === 0 ? null : this.#state(entries, false)
    const column = this.#columns.after(endings)
    return this.#state([...entries, ...entriesOf(column)], column.accepting)
  }

  #state(entries: readonly Entry[], accepting: boolean): State {
    const sorted = [...entries].sort((a, b) => a.column.id - b.column.id || a.state.id - b.state.id)
    const key = `${accepting ? '+' : ''}${sorted.map(({column, state}) => `${column.id}:${state.id}`)}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state = {id: this.#ids++, entries: sorted, accepting, next: new Map(), generation: this.#generation}
    this.#states.set(key, state)
    return state
  }
}

const entriesOf = (column: Column): Entry[] => (column.lexemes === undefined ? [] : [{column, state: column.lexemes}])
