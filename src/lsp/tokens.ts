export interface Token {
  readonly kind: 'comment' | 'string' | 'decorator' | 'word' | 'number' | 'symbol'
  readonly text: string
  readonly start: number
  readonly end: number
}

/** One alternative per kind, in order; an unterminated string extends to the end of its line. */
const pattern =
  /(?:\/\/|#)[^\n]*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|@[\w.]*|[A-Za-z_]\w*|\d+(?:\.\d+)?\w*|->|=>|\S/g

const closing: Readonly<Record<string, string>> = {')': '(', ']': '[', '}': '{'}

/** Words that start a declaration at the beginning of a line. */
const heads: ReadonlySet<string> = new Set(['fn', 'type', 'pub', 'http', 'import'])

/**
 * The tokens of a possibly incomplete text, with matched brackets. A declaration at the
 * start of a line closes all brackets open above it, so that a missing brace does not affect the rest.
 */
export class Tokens {
  readonly #text: string
  readonly #tokens: readonly Token[]
  /** For each token and the end: the index of the innermost open bracket before it, or -1. */
  readonly #around: number[] = []
  /** The index of the matching bracket, for each bracket. */
  readonly #partners = new Map<number, number>()

  constructor(text: string) {
    this.#text = text
    const tokens = [...text.matchAll(pattern)].map(asToken)
    this.#tokens = tokens.filter(({kind}) => kind !== 'comment')
    const open: number[] = []
    for (const [i, token] of this.#tokens.entries()) {
      if (isHead(token) && (token.start === 0 || text[token.start - 1] === '\n')) open.length = 0
      this.#around.push(open.at(-1) ?? -1)
      if (token.kind !== 'symbol') continue
      if ('([{'.includes(token.text)) open.push(i)
      else if (token.text in closing) this.#close(i, open)
    }
    this.#around.push(open.at(-1) ?? -1)
  }

  /** Closes the last open bracket of this kind, and all brackets open inside it. */
  #close(i: number, open: number[]): void {
    const at = open.findLastIndex((each) => this.text(each) === closing[this.text(i)])
    if (at === -1) return
    const opened = open[at] as number
    open.length = at
    this.#partners.set(i, opened)
    this.#partners.set(opened, i)
  }

  get count(): number {
    return this.#tokens.length
  }

  at(i: number): Token | undefined {
    return this.#tokens[i]
  }

  /** The text of a token; an empty string if there is none. */
  text(i: number): string {
    return this.#tokens[i]?.text ?? ''
  }

  is(i: number, kind: Token['kind']): boolean {
    return this.#tokens[i]?.kind === kind
  }

  around(i: number): number {
    return this.#around[i] ?? -1
  }

  partner(i: number): number | undefined {
    return this.#partners.get(i)
  }

  /** Whether a line ends before token `i`, which may be the next token to be typed. */
  startsLine(i: number): boolean {
    const before = this.#tokens[i - 1]
    return before === undefined || this.#text.slice(before.end, this.#tokens[i]?.start).includes('\n')
  }

  /** The token that starts at an offset, or -1. */
  startingAt(offset: number): number {
    return this.#tokens.findIndex(({start}) => start === offset)
  }
}

const isHead = ({kind, text}: Token) => kind === 'decorator' || heads.has(text)

function asToken(match: RegExpExecArray): Token {
  const [text] = match
  return {kind: kindOf(text), text, start: match.index, end: match.index + text.length}
}

function kindOf(text: string): Token['kind'] {
  const first = text.charAt(0)
  if (/\w/.test(first)) return /\d/.test(first) ? 'number' : 'word'
  if (first === '"' || first === "'") return 'string'
  if (first === '@') return 'decorator'
  return first === '#' || text.startsWith('//') ? 'comment' : 'symbol'
}

const closedString = /^(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')$/

/** Whether a text ends in a comment, a string or a number, where there are no completions. */
export function endsInText(text: string): boolean {
  const last = [...text.slice(text.lastIndexOf('\n') + 1).matchAll(pattern)].map(asToken).at(-1)
  if (last?.kind === 'comment') return true
  if (last?.kind === 'string') return !closedString.test(last.text)
  return last?.kind === 'number' && /\w$/.test(text)
}
