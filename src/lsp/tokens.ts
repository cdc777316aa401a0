export interface Token {
  readonly kind: 'comment' | 'string' | 'decorator' | 'word' | 'number' | 'symbol'
  readonly text: string
  readonly start: number
  readonly end: number
}

/** One alternative for each kind, in their order; a string that is not closed on its line goes to its end. */
const pattern =
  /(?:\/\/|#)[^\n]*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|@[\w.]*|[A-Za-z_]\w*|\d+(?:\.\d+)?\w*|->|=>|\S/g

const closing: Readonly<Record<string, string>> = {')': '(', ']': '[', '}': '{'}

/** What stands at the start of a line where a declaration begins. */
const heads: ReadonlySet<string> = new Set(['fn', 'type', 'pub', 'http', 'import'])

/**
 * The tokens of a text that may end in the midst of anything, and which brackets belong together. A declaration at the
 * start of a line closes what was left open above it, so that one missing brace does not confuse the rest.
 */
export class Tokens {
  readonly #text: string
  readonly #tokens: readonly Token[]
  /** Of every token, and of the end: the number of the innermost bracket that is open before it, or -1. */
  readonly #around: number[] = []
  /** Of brackets: the number of the other one. */
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

  /** A bracket closes the last one of its kind, and what was left open in it. */
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

  /** Nothing where there is no token. */
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

  /** Whether a line ends before token `i`, which may be the one that is still to come. */
  startsLine(i: number): boolean {
    const before = this.#tokens[i - 1]
    return before === undefined || this.#text.slice(before.end, this.#tokens[i]?.start).includes('\n')
  }

  /** The token that begins at an offset, or -1. */
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

/** Whether a text ends where nobody writes names: in a comment, a string or a number. */
export function endsInText(text: string): boolean {
  const last = [...text.slice(text.lastIndexOf('\n') + 1).matchAll(pattern)].map(asToken).at(-1)
  if (last?.kind === 'comment') return true
  if (last?.kind === 'string') return !closedString.test(last.text)
  return last?.kind === 'number' && /\w$/.test(text)
}
