import type {ByteClasses} from './byte-set.js'
import {Continuations} from './continuations.js'
import type {Regex, Regexes} from './regex.js'

/** What may follow within the lexemes that begin at the same place. */
export interface LexerState {
  readonly id: number
  /** Lexemes that match a longer text, sorted, and what may follow in each. */
  readonly lexemes: readonly number[]
  readonly rests: readonly Regex[]
  /** Lexemes that match the text so far, sorted. */
  readonly ended: readonly number[]
  /** Number of `ended`: the same for the same lexemes. */
  readonly endedId: number
  /** States after a byte of each class, `null` if there is none; computed on demand. */
  next: (LexerState | null | undefined)[] | undefined
  /** Generation of the states in `next`. */
  generation: number
}

/** Recognises lexemes, all at once. States are created on demand and kept until `forget`. */
export class Lexer {
  readonly #regexes: Regexes
  readonly #continuations: Continuations
  readonly #lexemes: readonly Regex[]
  readonly classes: ByteClasses
  #states = new Map<string, LexerState>()
  readonly #endings = new Map<string, number>([['', 0]])
  #ids = 0
  generation = 0

  /** @param lexemes expression of each, which matches no empty text */
  constructor(regexes: Regexes, lexemes: readonly Regex[], classes: ByteClasses) {
    this.#regexes = regexes
    this.#lexemes = lexemes
    this.classes = classes
    this.#continuations = new Continuations(regexes, classes.bytes)
  }

  /** Number of states that are kept for reuse. */
  get size(): number {
    return this.#states.size
  }

  get steps(): number {
    return this.#regexes.steps
  }

  /** Stops reusing the states so far, so that those that are not in use can be collected. */
  forget(): void {
    this.#states = new Map()
    this.#regexes.forget()
    this.generation++
  }

  /** @param lexemes numbers of those that may begin, sorted */
  start(lexemes: readonly number[]): LexerState {
    return this.#state(
      lexemes,
      lexemes.map((each) => this.#lexemes[each]!),
      [],
    )
  }

  /** The state after a byte; `null` if no lexeme continues with it. @throws grammar_limit */
  step(state: LexerState, byteClass: number): LexerState | null {
    if (state.next === undefined || state.generation !== this.generation) {
      state.next = new Array(this.classes.bytes.length)
      state.generation = this.generation
    }
    let next = state.next[byteClass]
    if (next === undefined) {
      next = this.#after(state, byteClass)
      state.next[byteClass] = next
    }
    return next
  }

  #after({lexemes, rests}: LexerState, byteClass: number): LexerState | null {
    const continued: number[] = []
    const derivatives: Regex[] = []
    const ended: number[] = []
    for (let i = 0; i < lexemes.length; i++) {
      const rest = this.#continuations.derivative(rests[i]!, byteClass)
      if (rest === this.#regexes.nothing) continue
      if (rest.nullable) ended.push(lexemes[i]!)
      if (!this.#continuations.canContinue(rest)) continue
      continued.push(lexemes[i]!)
      derivatives.push(rest)
    }
    return continued.length + ended.length === 0 ? null : this.#state(continued, derivatives, ended)
  }

  #state(lexemes: readonly number[], rests: readonly Regex[], ended: readonly number[]): LexerState {
    let key = `${ended}`
    const endedId = this.#endings.get(key) ?? this.#endings.size
    this.#endings.set(key, endedId)
    for (let i = 0; i < lexemes.length; i++) key += `;${lexemes[i]}:${rests[i]!.id}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const {generation} = this
    const state = {id: this.#ids++, lexemes, rests, ended, endedId, next: undefined, generation}
    this.#states.set(key, state)
    return state
  }
}
