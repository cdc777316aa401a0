/** Token kinds. Numbers, because a program of 80,000 lines has a million tokens; words are `wildcard` and above. */
export const T = {
  eof: 0,
  semicolon: 1,
  int: 2,
  float: 3,
  dec: 4,
  string: 5,
  textWhole: 6,
  textStart: 7,
  textMiddle: 8,
  textEnd: 9,
  decorator: 10,
  parenOpen: 11,
  parenClose: 12,
  bracketOpen: 13,
  bracketClose: 14,
  braceOpen: 15,
  braceClose: 16,
  colon: 17,
  comma: 18,
  dot: 19,
  spread: 20,
  question: 21,
  assign: 22,
  equal: 23,
  notEqual: 24,
  plusAssign: 25,
  minusAssign: 26,
  starAssign: 27,
  slashAssign: 28,
  arrow: 29,
  fatArrow: 30,
  pipeForward: 31,
  bar: 32,
  less: 33,
  lessEqual: 34,
  greater: 35,
  greaterEqual: 36,
  plus: 37,
  minus: 38,
  star: 39,
  slash: 40,
  percent: 41,
  bang: 42,
  wildcard: 43,
  lower: 44,
  upper: 45,
  fn: 46,
  let: 47,
  mut: 48,
  if: 49,
  else: 50,
  while: 51,
  loop: 52,
  break: 53,
  continue: 54,
  match: 55,
  for: 56,
  in: 57,
  to: 58,
  return: 59,
  type: 60,
  import: 61,
  pub: 62,
  and: 63,
  or: 64,
  not: 65,
  is: 66,
  isnt: 67,
  true: 68,
  false: 69,
  with: 70,
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
