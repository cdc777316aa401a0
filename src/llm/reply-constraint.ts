import {SvcError} from '../errors/index.js'
import {
  bytesOfMarked,
  bytesOfToken,
  type CompiledGrammar,
  type Constraint,
  type ConstraintSource,
  compileInSteps,
  createConstraintSource,
  createVocabulary,
  LruCache,
  readGrammar,
  readTokenTrie,
  type Steps,
  type Vocabulary,
} from '../grammar/index.js'
import type {Tokenizer} from '../text/index.js'
import {encodeWithin} from './encode-within.js'
import type {PreparedFormat} from './prepared-format.js'
import {toolReader} from './reply/tool-grammars.js'
import {ThinkingBudget, type ThinkingLimit} from './thinking-budget.js'

/** Maximum memory of the grammars that are kept, bytes. */
const maxGrammars = 128 << 20

interface Compiled {
  grammar: CompiledGrammar
  source: ConstraintSource
}

/** The constraints of a model's replies. Grammars are kept with what earlier replies have computed. */
export class ReplyConstraints {
  readonly #tokenizer: Tokenizer
  readonly #ends: readonly number[]
  readonly #grammars = new LruCache<Compiled>(maxGrammars)
  #vocabulary: Vocabulary | undefined

  constructor(tokenizer: Tokenizer, ends: ReadonlySet<number>) {
    this.#tokenizer = tokenizer
    this.#ends = [...ends].filter((token) => token >= 0 && token < tokenizer.size)
  }

  /** A constraint for a new reply. */
  start(format: PreparedFormat, limit?: ThinkingLimit): ReplyConstraint {
    this.#vocabulary ??= createVocabulary(readVocabulary(format.vocabulary))
    const vocabulary = this.#vocabulary
    const budget = limit && {
      thinking: new ThinkingBudget(limit),
      bytesOf: (token: number) => bytesOfToken(vocabulary.trie, token),
    }
    return new ReplyConstraint(() => this.#compile(format, vocabulary), this.#tokenizer, vocabulary.words, budget)
  }

  *#compile({digest, grammar: stored, tools}: PreparedFormat, vocabulary: Vocabulary): Steps<Compiled> {
    let compiled = this.#grammars.get(digest)
    if (compiled === undefined) {
      const grammar = yield* compileInSteps(yield* readGrammar(stored), tools && toolReader(tools))
      compiled = {grammar, source: createConstraintSource(grammar, vocabulary, this.#ends)}
    }
    this.#grammars.set(digest, compiled, compiled.source.bytes)
    return compiled
  }
}

function readVocabulary(stored: Uint8Array) {
  const trie = readTokenTrie(stored)
  if (trie === undefined) throw new Error('The vocabulary is damaged.')
  return trie
}

/** A budget of thinking, and the bytes of tokens, by which it is followed. */
interface Budget {
  thinking: ThinkingBudget
  bytesOf(token: number): Uint8Array
}

/** What the reply so far allows. It changes with `accept` only. Before `prepare`, only that can be called. */
export class ReplyConstraint {
  /** A bit per token, the first in the lowest bit; valid after `prepare`, unless the reply is complete or a token is forced. */
  readonly allowed: Uint32Array
  readonly #compile: () => Steps<Compiled>
  readonly #encode: (text: string) => number[]
  readonly #budget: Budget | undefined
  #compiled: {grammar: CompiledGrammar; constraint: Constraint} | undefined
  #forced: readonly number[] | undefined
  #isPrepared = false

  /**
   * Created by `ReplyConstraints`.
   * @param words number of 32-bit words of a set of tokens
   */
  constructor(compile: () => Steps<Compiled>, tokenizer: Tokenizer, words: number, budget?: Budget) {
    this.#budget = budget
    this.#compile = compile
    this.#encode = (text) => encodeWithin(tokenizer, text)
    this.allowed = new Uint32Array(words)
  }

  /** Computes what may follow, unless it is known. @throws grammar_limit, grammar_unsatisfiable, generation_failed */
  *prepare(): Steps<void> {
    if (this.#compiled === undefined) {
      const {grammar, source} = yield* this.#compile()
      this.#compiled = {grammar, constraint: source.start()}
    }
    if (this.#isPrepared || this.isComplete) return
    this.#forced ??= this.#closing() ?? (yield* this.#constraint.forcedInSteps(this.#encode))
    if (this.#forced.length > 0) return
    yield* this.#constraint.maskInSteps(this.allowed)
    if (this.allowed.every((word) => word === 0))
      throw new SvcError('generation_failed', {reason: 'no token of the vocabulary continues the format of the reply'})
    this.#isPrepared = true
  }

  get #constraint(): Constraint {
    if (this.#compiled === undefined) throw new Error('The constraint is not prepared.')
    return this.#compiled.constraint
  }

  /** Tokens that must follow, as far as they are known before `prepare`; they need no selection. @throws grammar_limit */
  get forced(): readonly number[] {
    this.#forced ??= this.#closing() ?? this.#constraint.forcedTokens(this.#encode)
    return this.#forced ?? []
  }

  /** The tokens that close the thinking, if its budget is used up, as soon as they may follow. */
  #closing(): readonly number[] | undefined {
    const closing = this.#budget?.thinking.closing ?? []
    return closing.length > 0 && this.allowedStart(closing).length === closing.length ? closing : undefined
  }

  /** Whether nothing may follow, so that the reply ends without an end token. */
  get isComplete(): boolean {
    return this.#constraint.isComplete()
  }

  /** Appends a token that may follow. */
  accept(token: number): void {
    if (!this.#constraint.accept(token)) throw new Error(`The token ${token} does not match the format of the reply.`)
    this.#budget?.thinking.accept(token, this.#budget.bytesOf(token))
    this.#forced = undefined
    this.#isPrepared = false
  }

  /** The tokens of a draft up to the first that may not follow. @throws grammar_limit */
  allowedStart(draft: readonly number[]): readonly number[] {
    const ahead = this.#constraint.copy()
    const refused = draft.findIndex((token) => !ahead.acceptCompiled(token))
    return refused === -1 ? draft : draft.slice(0, refused)
  }

  /** Whether a text, with marks for special tokens, matches the format as a whole. @throws grammar_limit */
  matches(text: string): boolean {
    const matcher = this.#compiled?.grammar.matcher()
    return matcher?.accept(bytesOfMarked(text)) === true && matcher.isAccepting()
  }
}
