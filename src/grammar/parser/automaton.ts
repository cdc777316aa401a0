import type {Lexer, LexerState} from '../lexer/lexer.js'
import type {Steps} from '../steps.js'
import {type Column, Columns, type Ending} from './column.js'
import {type Productions, placeOfNested} from './from-grammar.js'

/** Lexemes that began at a column and have not ended. */
export interface Entry {
  readonly column: Column
  readonly state: LexerState
}

/** A text of a nested grammar that began at a column and has not ended. */
interface NestedEntry {
  readonly column: Column
  /** Number of the grammar among lexemes. */
  readonly lexeme: number
  readonly automaton: Automaton
  readonly state: State
}

/** A place in a text. It depends only on what may follow, so that places with the same future are the same object. */
export interface State {
  readonly id: number
  readonly entries: readonly Entry[]
  readonly nested: readonly NestedEntry[]
  /** Whether the text so far is complete. */
  readonly accepting: boolean
  /** Whether nothing may follow. */
  readonly isLast: boolean
  /**
   * The first class of bytes whose state was computed, or -1, and that state: most states need no other. Within nested grammars,
   * which have other classes, it is the byte.
   */
  onlyClass: number
  only: State | null
  /** States after other classes or bytes, `null` if the byte is refused; computed on demand. */
  next: Map<number, State | null> | undefined
  /** Whether each byte may follow; computed on demand. */
  first: Uint8Array | undefined
  /** The state with counts beyond the longest token; computed on demand. */
  clamped: State | undefined
  generation: number
}

/** Thrown where a text reaches a nested grammar that has not been compiled. */
export class NestedNeeded extends Error {
  readonly automaton: Automaton
  readonly place: number

  constructor(automaton: Automaton, place: number) {
    super('A nested grammar has not been compiled.')
    this.automaton = automaton
    this.place = place
  }
}

/** Names of nested grammars to their automata. */
export type CompileNested = (name: string) => Steps<Automaton>

/** A recogniser of bytes, whose states are created on demand and kept until `forget`. */
export class Automaton {
  readonly #productions: Productions
  readonly #columns: Columns
  #states = new Map<string, State>()
  #ids = 0
  generation = 0
  readonly #compileNested: CompileNested
  readonly #nested = new Map<number, Automaton>()
  #start: State | undefined

  constructor(productions: Productions, compileNested: CompileNested) {
    this.#productions = productions
    this.#columns = new Columns(productions)
    this.#compileNested = compileNested
  }

  /** @throws NestedNeeded */
  get start(): State {
    const {start} = this.#columns
    this.#start ??= this.#state(entriesOf(start), this.#nestedOf(start), start.accepting)
    return this.#start
  }

  /** Compiles a nested grammar, by its place. @throws what compiles it */
  *compile(place: number): Steps<void> {
    this.#nested.set(place, yield* this.#compileNested(this.#productions.nested[place]!))
  }

  #nestedOf(column: Column): NestedEntry[] {
    return column.nested.map((lexeme) => {
      const automaton = this.#nested.get(placeOfNested(lexeme))
      if (automaton === undefined) throw new NestedNeeded(this, placeOfNested(lexeme))
      return {column, lexeme, automaton, state: automaton.start}
    })
  }

  get lexer(): Lexer {
    return this.#productions.lexer
  }

  /** Steps of work so far: derivatives, items and states. */
  get steps(): number {
    let steps = this.lexer.steps + this.#columns.steps + this.#ids
    for (const nested of this.#nested.values()) steps += nested.steps
    return steps
  }

  /** Approximate memory of what is kept for reuse, bytes. */
  get bytes(): number {
    let bytes = this.lexer.bytes + this.#columns.bytes + 600 * this.#states.size
    for (const nested of this.#nested.values()) bytes += nested.bytes
    return bytes
  }

  /** Stops reusing the states so far, so that those that are not in use can be collected. */
  forget(): void {
    this.#states = new Map()
    this.#columns.forget()
    this.lexer.forget()
    for (const nested of this.#nested.values()) nested.forget()
    this.generation++
  }

  /** The state after a byte; `null` if no text of the grammar continues with it. @throws grammar_limit, NestedNeeded */
  step(state: State, byte: number): State | null {
    const key = state.nested.length === 0 ? this.lexer.classes.of[byte]! : byte
    this.#refresh(state)
    if (state.onlyClass === key) return state.only
    let next = state.next?.get(key)
    if (next !== undefined) return next
    next = this.#after(state, byte)
    if (state.onlyClass === -1) {
      state.onlyClass = key
      state.only = next
      return next
    }
    state.next ??= new Map()
    state.next.set(key, next)
    return next
  }

  /** Whether each byte may follow, without creating the states after them. @throws grammar_limit */
  first(state: State): Uint8Array {
    this.#refresh(state)
    state.first ??= this.#firstOf(state)
    return state.first
  }

  #firstOf({entries, nested}: State): Uint8Array {
    const {bytes, of} = this.lexer.classes
    const classes = new Uint8Array(bytes.length)
    // A function per class and state would be a tenth of all memory that masks allocate.
    for (const {state} of entries)
      for (let i = 0; i < classes.length; i++)
        if (classes[i] === 0 && this.lexer.step(state, i) !== null) classes[i] = 1
    const first = new Uint8Array(of.length)
    for (let byte = 0; byte < first.length; byte++) first[byte] = classes[of[byte]!]!
    for (const {automaton, state} of nested) {
      const inner = automaton.first(state)
      for (let byte = 0; byte < first.length; byte++) first[byte]! |= inner[byte]!
    }
    return first
  }

  /** The state after lexemes that ended at the same place, without others that continue there. @throws grammar_limit */
  afterLexemes(ending: Ending): State {
    const column = this.#columns.after([ending])
    return this.#state(entriesOf(column), this.#nestedOf(column), column.accepting)
  }

  /** A state that differs from the given one only in lexemes longer than `length`. */
  clamp(state: State, length: number): State {
    this.#refresh(state)
    if (state.clamped === undefined) {
      const entries = state.entries.map(({column, state: own}) => ({column, state: this.lexer.clamp(own, length)}))
      const nested = state.nested.map((each) => ({...each, state: each.automaton.clamp(each.state, length)}))
      const isSame =
        entries.every((each, i) => each.state === state.entries[i]!.state) &&
        nested.every((each, i) => each.state === state.nested[i]!.state)
      state.clamped = isSame ? state : this.#state(entries, nested, state.accepting)
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

  #after(state: State, byte: number): State | null {
    const byteClass = this.lexer.classes.of[byte]!
    const entries: Entry[] = []
    const nested: NestedEntry[] = []
    const endings: Ending[] = []
    for (const entry of state.entries) {
      const next = this.lexer.step(entry.state, byteClass)
      if (next === null) continue
      if (next.ended !== undefined) endings.push({column: entry.column, ended: next.ended})
      if (next.lexemes.length > 0) entries.push({column: entry.column, state: next})
    }
    for (const entry of state.nested) {
      const next = entry.automaton.step(entry.state, byte)
      if (next === null) continue
      if (next.accepting) endings.push({column: entry.column, ended: this.lexer.ended([entry.lexeme])})
      if (!next.isLast) nested.push({...entry, state: next})
    }
    if (endings.length === 0) return entries.length + nested.length === 0 ? null : this.#state(entries, nested, false)
    const column = this.#columns.after(endings)
    const begun = this.#nestedOf(column)
    return this.#state([...entries, ...entriesOf(column)], [...nested, ...begun], column.accepting)
  }

  /** The state after the end of a nested grammar, without others that continue there. @throws grammar_limit, NestedNeeded */
  afterNested({column, lexeme}: NestedEntry): State {
    return this.afterLexemes({column, ended: this.lexer.ended([lexeme])})
  }

  #state(entries: readonly Entry[], nested: readonly NestedEntry[], accepting: boolean): State {
    const sorted = entries.length < 2 ? entries : [...entries].sort(compare)
    let key = accepting ? '+' : ''
    for (const {column, state} of sorted) key += `${column.id}:${state.id},`
    for (const {column, lexeme, state} of [...nested].sort(compare)) key += `${column.id}/${lexeme}:${state.id},`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state: State = {
      id: this.#ids++,
      entries: sorted,
      nested,
      accepting,
      isLast: entries.length + nested.length === 0,
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

const compare = (a: Entry | NestedEntry, b: Entry | NestedEntry): number =>
  a.column.id - b.column.id || a.state.id - b.state.id

const entriesOf = (column: Column): Entry[] => (column.lexemes === undefined ? [] : [{column, state: column.lexemes}])
