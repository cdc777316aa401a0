import {createByteDecoder, Detokenizer, type IncrementalDecoder} from './detokenizer.js'
import {StopMatcher, type StopStep} from './stop-matcher.js'
import type {Tokenizer} from './tokenizer.js'

/**
 * Converts the tokens of one generation to text incrementally. Characters are never split, and neither special tokens nor
 * a stop string nor any text after it are returned. Stop strings may contain the names of special tokens.
 */
export class OutputText {
  readonly #tokenizer: Tokenizer
  readonly #specials: ReadonlySet<number>
  readonly #detokenizer: IncrementalDecoder
  readonly #stops: StopMatcher
  readonly #marks: ReadonlyMap<number, string>
  #stopped = false

  /**
   * @param isExact whether the text is exactly the bytes of the tokens; default: as the tokenizer decodes them
   * @param marks texts that are returned for special tokens
   */
  constructor(
    tokenizer: Tokenizer,
    prompt: readonly number[],
    stop: readonly string[],
    {isExact = false, marks = new Map<number, string>()} = {},
  ) {
    this.#marks = marks
    this.#tokenizer = tokenizer
    this.#specials = specialsOf(tokenizer)
    this.#detokenizer = isExact ? createByteDecoder(tokenizer, this.#specials) : new Detokenizer(tokenizer, prompt)
    this.#stops = new StopMatcher(stop)
  }

  /** Whether a stop string has been reached. */
  get stopped(): boolean {
    return this.#stopped
  }

  /** The stop string that has been reached. */
  get stopString(): string | undefined {
    return this.#stops.found
  }

  /** Where the text of the next token begins, in characters that include the names of special tokens. */
  get length(): number {
    return this.#stops.length
  }

  /** How many of these characters have been returned or, after a stop string, precede it. */
  get released(): number {
    return this.#stops.released
  }

  push(token: number): string {
    const text = this.#detokenizer.push(token)
    return this.#specials.has(token) ? this.#matchName(token, text) : this.#match(this.#stops.push(text))
  }

  /**
   * Returns the text held back.
   * @param endToken the token that ends the text, if one does
   */
  end(endToken?: number): string {
    if (this.#stopped) return ''
    const text = this.#detokenizer.flush()
    const matched = endToken === undefined ? this.#match(this.#stops.push(text)) : this.#matchName(endToken, text)
    return this.#stopped ? matched : matched + this.#stops.flush()
  }

  /** @param before text that precedes the name of the token */
  #matchName(token: number, before: string): string {
    const text = this.#match(this.#stops.push(before))
    if (this.#stopped) return text
    const named = text + this.#match(this.#stops.push(this.#tokenizer.bytes(token).toString(), true))
    const mark = this.#marks.get(token)
    return this.#stopped || mark === undefined ? named : named + this.#match(this.#stops.push(mark))
  }

  #match({text, stopped}: StopStep): string {
    this.#stopped = stopped
    return text
  }
}

const specialsByTokenizer = new WeakMap<Tokenizer, ReadonlySet<number>>()

/** The tokens that decoding omits. */
export function specialsOf(tokenizer: Tokenizer): ReadonlySet<number> {
  const known = specialsByTokenizer.get(tokenizer)
  if (known !== undefined) return known
  const names = [...tokenizer.specials, ...(tokenizer.specialTokens.additional_special_tokens ?? [])]
  const tokens = new Set(names.map((name) => tokenizer.id(name)).filter((id) => id !== undefined))
  specialsByTokenizer.set(tokenizer, tokens)
  return tokens
}
