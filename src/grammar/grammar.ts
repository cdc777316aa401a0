/**
 * A regular expression over Unicode text, as a tree. It matches the UTF-8 bytes of a text as a whole. Character ranges are
 * inclusive code points, sorted, without surrogates.
 */
export type Pattern =
  | {readonly kind: 'text'; readonly text: string}
  | {readonly kind: 'characters'; readonly ranges: readonly (readonly [number, number])[]}
  | {readonly kind: 'sequence'; readonly parts: readonly Pattern[]}
  | {readonly kind: 'either'; readonly options: readonly Pattern[]}
  | {readonly kind: 'repeat'; readonly part: Pattern; readonly min: number; readonly max: number}
  /** Text that all parts match. */
  | {readonly kind: 'both'; readonly parts: readonly Pattern[]}
  /** Any text, of valid UTF-8, that the part does not match. */
  | {readonly kind: 'not'; readonly part: Pattern}

/** A context-free expression over lexemes. The language is exact: a lexeme may end at each place where its pattern matches. */
export type Expression =
  | {readonly kind: 'lexeme'; readonly pattern: Pattern}
  /** A special token, by its mark. No pattern matches it. */
  | {readonly kind: 'special'; readonly mark: number}
  | {readonly kind: 'rule'; readonly name: string}
  /** Another grammar, by its name. It is compiled when a text reaches it, and matches no empty text. */
  | {readonly kind: 'nested'; readonly name: string}
  | {readonly kind: 'sequence'; readonly parts: readonly Expression[]}
  | {readonly kind: 'either'; readonly options: readonly Expression[]}
  | {readonly kind: 'repeat'; readonly part: Expression; readonly min: number; readonly max: number}

/** A grammar: named rules and the one that matches a whole reply. `max` of a repetition is `Infinity` if it has no end. */
export interface Grammar {
  readonly start: string
  readonly rules: ReadonlyMap<string, Expression>
}
