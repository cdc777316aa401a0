/** The tokens of a model, as far as constraints need them. */
export interface TextVocabulary {
  /** Number of tokens. */
  readonly size: number
  /** True for tokens without which decoding cannot end, such as the end of text, timestamps and the blank of CTC. */
  isRequired(token: number): boolean
  /** Tokens that write exactly this text; undefined if there are none. */
  encode(text: string): number[] | undefined
  /** True if the text of the token ends in a letter or a digit, so that a word may continue after it. */
  endsInWord(token: number): boolean
}
