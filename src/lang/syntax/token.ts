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
  spread: 16,
  question: 17,
  assign: 18,
  equal: 19,
  notEqual: 20,
  plusAssign: 21,
  minusAssign: 22,
  starAssign: 23,
  slashAssign: 24,
  arrow: 25,
  fatArrow: 26,
  pipeForward: 27,
  bar: 28,
  less: 29,
  lessEqual: 30,
  greater: 31,
  greaterEqual: 32,
  plus: 33,
  minus: 34,
  star: 35,
  slash: 36,
  percent: 37,
  bang: 38,
  wildcard: 39,
  lower: 40,
  upper: 41,
  fn: 42,
  let: 43,
  mut: 44,
  if: 45,
  else: 46,
  while: 47,
  loop: 48,
  break: 49,
  continue: 50,
  match: 51,
  for: 52,
  in: 53,
  to: 54,
  return: 55,
  type: 56,
  import: 57,
  pub: 58,
  and: 59,
  or: 60,
  not: 61,
  is: 62,
  isnt: 63,
  true: 64,
  false: 65,
  with: 66,
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
