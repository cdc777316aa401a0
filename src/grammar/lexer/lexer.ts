import type {ByteClasses} from './byte-set.js'
import {clamped} from './clamp.js'
import {Continuations} from './continuations.js'
import type {Regex, Regexes} from './regex.js'

/** Lexemes that end at the same place; the same object for the same lexemes. */
export interface Ended {
  readonly id: number
  /** Numbers, sorted. */
  readonly lexemes: readonly number[]
}

/** What may follow within the lexemes that begin at the same place. */
export interface LexerState {
  readonly id: number
  /** Lexemes that match a longer text, sorted, and what may follow in each. */
  readonly lexemes: readonly number[]
  readonly rests: readonly Regex[]
  /** Lexemes that match the text so far; undefined if there are none. */
  readonly ended: Ended | undefined
  /** The first class of bytes whose state was computed, or -1, and that state: most states need no other. */
  onlyClass: number
  only: LexerState | null
  /** States after a byte of each class, `null` if there is none; computed on demand. */
  next: (LexerState | null | undefined)[] | undefined
  /** Generation of these states. */
  generation: number
  /** The state with counts beyond the longest token; computed on demand. */
  clamped: LexerState | undefined
}

/** Recognises lexemes, all at once. States are created on demand and kept until `forget`. */
export class Lexer {
  readonly regexes: Regexes
  readonly #continuations: Continuations
  readonly #lexemes: readonly Regex[]
  readonly classes: ByteClasses
  #states = new Map<string, LexerState>()
  #endings = new Map<string, Ended>()
  #ids = 0
  #endedIds = 0
  #rows = 0
  generation = 0

  /** @param lexemes expression of each, which matches no empty text */
  constructor(regexes: Regexes, lexemes: readonly Regex[], classes: ByteClasses) {
    this.regexes = regexes
    this.#lexemes = lexemes
    this.classes = classes
    this.#continuations = new Continuations(regexes, classes.bytes)
  }

  /** Approximate memory of what is kept for reuse, bytes. */
  get bytes(): number {
    const row = 8 * this.classes.bytes.length
    const expressions = 250 * this.regexes.size
    return 400 * this.#states.size + expressions + row * (this.#rows + this.#continuations.rows)
  }

  /** Derivatives computed so far. */
  get steps(): number {
    return this.regexes.steps
  }

  /** Stops reusing the states so far, so that those that are not in use can be collected. */
  forget(): void {
    this.#states = new Map()
    this.#endings = new Map()
    this.#rows = 0
    this.regexes.forget()
    this.#continuations.forget()
    this.generation++
  }

  /** @param lexemes numbers of those that may begin, sorted */
  start(lexemes: readonly number[]): LexerState {
    const rests = lexemes.map((each) => this.#lexemes[each]!)
    return this.state(lexemes, rests)
  }

  /** The state after a byte; `null` if no lexeme continues with it. @throws grammar_limit */
  step(state: LexerState, byteClass: number): LexerState | null {
    if (state.generation !== this.generation) this.#refresh(state)
    if (state.onlyClass === byteClass) return state.only
    let next = state.next?.[byteClass]
    if (next !== undefined) return next
    next = this.#after(state, byteClass)
    if (state.onlyClass === -1) {
      state.onlyClass = byteClass
      state.only = next
      return next
    }
    if (state.next === undefined) {
      state.next = new Array(this.classes.bytes.length)
      state.next[state.onlyClass] = state.only
      this.#rows++
    }
    state.next[byteClass] = next
    return next
  }

  #refresh(state: LexerState): void {
    state.onlyClass = -1
    state.next = undefined
    state.clamped = undefined
    state.generation = this.generation
  }

  /**
   * A state that differs from the given one only in texts longer than `length`: counts beyond it have no end. So states
   * within a long counted repetition share what is computed for tokens.
   */
  clamp(state: LexerState, length: number): LexerState {
    if (state.generation !== this.generation) this.#refresh(state)
    if (state.clamped === undefined) {
      const rests = state.rests.map((rest) => clamped(this.regexes, rest, length))
      const isSame = rests.every((rest, i) => rest === state.rests[i])
      state.clamped = isSame ? state : this.state(state.lexemes, rests, state.ended)
    }
    return state.clamped
  }

  /** The state of some of the lexemes. @param indexes sorted */
  part({lexemes, rests}: LexerState, indexes: readonly number[]): LexerState {
    return this.state(
      indexes.map((i) => lexemes[i]!),
      indexes.map((i) => rests[i]!),
    )
  }

  /** Lexemes that end at the same place. @param lexemes numbers, sorted */
  ended(lexemes: readonly number[]): Ended {
    const key = lexemes.join()
    const known = this.#endings.get(key)
    if (known !== undefined) return known
    const ended = {id: this.#endedIds++, lexemes}
    this.#endings.set(key, ended)
    return ended
  }

  #after({lexemes, rests}: LexerState, byteClass: number): LexerState | null {
    const continued: number[] = []
    const derivatives: Regex[] = []
    const ended: number[] = []
    const byte = this.classes.bytes[byteClass]!
    for (let i = 0; i < lexemes.length; i++) {
      const {first} = rests[i]!
      if (first !== -1 && first !== byte) continue
      const rest = this.#continuations.derivative(rests[i]!, byteClass)
      if (rest === this.regexes.nothing) continue
      if (rest.nullable) ended.push(lexemes[i]!)
      if (!this.#continuations.canContinue(rest)) continue
      continued.push(lexemes[i]!)
      derivatives.push(rest)
    }
    if (ended.length > 0) return this.state(continued, derivatives, this.ended(ended))
    return continued.length === 0 ? null : this.state(continued, derivatives)
  }

  /** @param lexemes sorted, and what may follow in each */
  state(lexemes: readonly number[], rests: readonly Regex[], ended?: Ended): LexerState {
    let key = ended === undefined ? '' : `${ended.id}`
    for (let i = 0; i < lexemes.length; i++) key += `;${lexemes[i]}:${rests[i]!.id}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state = {
      id: this.#ids++,
      lexemes,
      rests,
      ended,
      onlyClass: -1,
      only: null,
      next: undefined,
      generation: this.generation,
      clamped: undefined,
    }
    this.#states.set(key, state)
    return state
  }
}
