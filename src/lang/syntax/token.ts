/** Token kinds. Numbers, because a program of 80,000 lines has a million tokens; words are `wildcard` and above. */
export const T = {
  eof: 0,
  semicolon: 1,
  int: 2,
  float: 3,
  dec: 4,
  string: 5,
  decorator: 6,
  parenOpen: 7,
  parenClose: 8,
  bracketOpen: 9,
  bracketClose: 10,
  braceOpen: 11,
  braceClose: 12,
  colon: 13,
  comma: 14,
  dot: 15,
  question: 16,
  assign: 17,
  equal: 18,
  notEqual: 19,
  plusAssign: 20,
  minusAssign: 21,
  starAssign: 22,
  slashAssign: 23,
  arrow: 24,
  fatArrow: 25,
  pipeForward: 26,
  bar: 27,
  less: 28,
  lessEqual: 29,
  greater: 30,
  greaterEqual: 31,
  plus: 32,
  minus: 33,
  star: 34,
  slash: 35,
  percent: 36,
  bang: 37,
  wildcard: 38,
  lower: 39,
  upper: 40,
  fn: 41,
  let: 42,
  mut: 43,
  if: 44,
  else: 45,
  while: 46,
  loop: 47,
  break: 48,
  continue: 49,
  match: 50,
  for: 51,
  in: 52,
  to: 53,
  return: 54,
  type: 55,
  import: 56,
  pub: 57,
  and: 58,
  or: 59,
  not: 60,
  is: 61,
  isnt: 62,
  true: 63,
  false: 64,
  with: 65,
} as const

export const reservedWords: ReadonlyMap<string, number> = new Map(
  Object.entries(T).filter(([, kind]) => kind >= T.fn) as [string, number][],
)

/** Any word, including reserved words; valid as the name of a field, member or object key. */
export const isWord = (kind: number): boolean => kind >= T.wildcard

/** A word that can name a parameter, variable or function; includes five reserved words. */
export const isName = (kind: number): boolean =>
  kind === T.lower ||
  kind === T.upper ||
  kind === T.to ||
  kind === T.type ||
  kind === T.in ||
  kind === T.with ||
  kind === T.import

/** A comment, for formatting and documentation. It precedes the token with the given index. */
export interface Comment {
  start: number
  end: number
  beforeToken: number
}

/** The tokens of a source, as arrays: token i is `source.slice(starts[i], ends[i])`. The last one is `eof`. */
export interface Tokens {
  readonly source: string
  readonly count: number
  readonly kinds: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  /** 1 if a line ends between the token and the previous one. */
  readonly newlines: Uint8Array
  readonly comments: readonly Comment[]
  /** The different words and decorators of the source, and the number of that of each token. */
  readonly words: readonly string[]
  readonly wordIds: Uint32Array
}
