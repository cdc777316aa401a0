import {
  type Diagnostic,
  type DiagnosticCode,
  type DiagnosticDetails,
  Diagnostics,
  type Span,
} from '../diagnostics/index.js'
import type {Block, Expr, Name} from './ast.js'
import {isName, isWord, T, type Tokens} from './token.js'

/** Names of token kinds in messages. */
const tokenNames: readonly (readonly [number, string])[] = [
  [T.parenOpen, "'('"],
  [T.parenClose, "')'"],
  [T.bracketOpen, "'['"],
  [T.bracketClose, "']'"],
  [T.braceOpen, "'{'"],
  [T.braceClose, "'}'"],
  [T.colon, "':'"],
  [T.comma, "','"],
  [T.dot, "'.'"],
  [T.assign, "'='"],
  [T.bar, "'|'"],
  [T.fatArrow, "'=>'"],
  [T.in, "'in'"],
  [T.fn, "'fn'"],
  [T.type, "'type'"],
  [T.string, 'a string'],
  [T.int, 'an integer'],
  [T.upper, 'a capitalised name'],
]
const names = new Map(tokenNames)

/** Maximum nesting of constructs: every stage walks the tree recursively. */
const maxLevel = 200

/** Adds an item; an array with a first item that is pushed would have space for 17. */
export function appended<R>(items: R[], item: R): R[] {
  if (items.length === 0) return [item]
  items.push(item)
  return items
}

/** A position in the tokens of a source, with the operations that all parts of the parser share. */
export class Cursor {
  readonly tokens: Tokens
  diagnostics: Diagnostics
  at = 0
  /** Decorators that were skipped. */
  readonly decorators: Name[] = []
  /** False inside parentheses, brackets and object literals, where line ends are ignored. */
  lineEndsCount = true
  /** The number of enclosing constructs. */
  level = 0
  /** Parsers of blocks and expressions, passed in because their modules depend on each other. */
  readonly block: () => Block
  readonly expr: () => Expr
  /** In the head of `if`, `while`, `match` or `for`, where `X {}` is not a record. */
  inHead = false
  /** In the guard of a match arm, where `=>` belongs to the arm. */
  inGuard = false
  /** Whether bodies of functions are skipped, to be parsed later. */
  skipsBodies = false
  /** Whether anything was reported. */
  hasReported = false
  #tooDeep = false
  /** What the source is, for messages. */
  readonly #whole: string
  readonly #newlines: Uint8Array
  readonly #kinds: Uint8Array
  readonly #starts: Uint32Array
  readonly #ends: Uint32Array

  constructor(
    tokens: Tokens,
    diagnostics: Diagnostics,
    parse: {block: (c: Cursor) => Block; expr: (c: Cursor) => Expr},
    whole = 'file',
  ) {
    this.#whole = whole
    this.block = () => parse.block(this)
    this.expr = () => parse.expr(this)
    this.tokens = tokens
    this.diagnostics = diagnostics
    this.#newlines = tokens.newlines
    this.#kinds = tokens.kinds
    this.#starts = tokens.starts
    this.#ends = tokens.ends
  }

  get kind(): number {
    return this.#kinds[this.at] as number
  }

  get start(): number {
    return this.#starts[this.at] as number
  }

  /** The end of the previous token. */
  get lastEnd(): number {
    return this.at === 0 ? 0 : (this.#ends[this.at - 1] as number)
  }

  get span(): Span {
    return {start: this.start, end: this.#ends[this.at] as number}
  }

  /** Whether this token is on a new line and line ends are significant. */
  get onNewLine(): boolean {
    return this.lineEndsCount && this.#newlines[this.at] === 1
  }

  /** Whether this token is the first on its line, even if line ends are ignored. */
  get firstOnLine(): boolean {
    return this.#newlines[this.at] === 1
  }

  peek(ahead: number): number {
    return this.#kinds[Math.min(this.at + ahead, this.tokens.count - 1)] as number
  }

  text(at = this.at): string {
    const {source, words, wordIds} = this.tokens
    const kind = this.#kinds[at] as number
    if (isWord(kind) || kind === T.decorator) return words[wordIds[at] as number] as string
    return source.slice(this.#starts[at], this.#ends[at])
  }

  next(): void {
    if (this.kind !== T.eof) this.at++
  }

  take(kind: number): boolean {
    if (this.kind !== kind) return false
    this.at++
    return true
  }

  /** Whether this token is the given contextual keyword, such as `on` or `unique`. */
  isContextual(word: string): boolean {
    return this.kind === T.lower && this.text() === word
  }

  takeContextual(word: string): boolean {
    if (!this.isContextual(word)) return false
    this.at++
    return true
  }

  /** Consumes the token, or reports that it was expected here. */
  expect(kind: number, hint?: string): boolean {
    if (this.take(kind)) return true
    this.expected(names.get(kind) ?? 'another token', hint === undefined ? {} : {hints: [hint]})
    return false
  }

  /** Like `expect`, for the closing bracket of the opening one at `start`, to which an error refers. */
  expectClosing(kind: number, start: number): void {
    if (this.take(kind)) return
    const related = [{start, end: start + 1, message: 'opened here'}]
    this.expected(names.get(kind) ?? 'another token', {related})
  }

  expected(what: string, details?: DiagnosticDetails): void {
    this.report('parse.expected_token', this.span, `Expected ${what}, found ${this.found()}.`, details)
  }

  unexpected(what: string, hint?: string): void {
    const details = hint === undefined ? {} : {hints: [hint]}
    this.report('parse.unexpected_token', this.span, `Expected ${what}, found ${this.found()}.`, details)
  }

  /** Ignores all errors after the parser has stopped at the nesting limit. */
  report(code: DiagnosticCode, span: Span, message: string, details?: DiagnosticDetails): void {
    this.hasReported = true
    if (!this.#tooDeep) this.diagnostics.report(code, span, message, details)
  }

  /** Parses what may belong to another dialect: nothing is reported, and `fault` is its first error. */
  attempt<R>(read: (c: this) => R): {result: R; fault: Diagnostic | undefined} {
    const {diagnostics, hasReported} = this
    const own = new Diagnostics()
    this.diagnostics = own
    const result = read(this)
    this.diagnostics = diagnostics
    this.hasReported = hasReported
    return {result, fault: own.sorted().find(({severity}) => severity === 'error')}
  }

  /** The current token, for a message. */
  found(): string {
    if (this.kind === T.eof) return `end of ${this.#whole}`
    const text = this.text()
    return `'${text.length > 40 ? `${text.slice(0, 40)}…` : text}'`
  }

  /** Consumes this token as a name, whatever its kind. */
  takeName(): Name {
    const name = {start: this.start, end: this.#ends[this.at] as number, text: this.text()}
    this.at++
    return name
  }

  /** name = any word except reserved words; five reserved words are also allowed. */
  name(): Name | undefined {
    if (isName(this.kind)) return this.takeName()
    this.expected('a name')
    return undefined
  }

  /** word = any word. */
  word(): Name | undefined {
    if (isWord(this.kind)) return this.takeName()
    this.expected('a name')
    return undefined
  }

  upper(): Name | undefined {
    if (this.kind === T.upper) return this.takeName()
    if (this.kind === T.lower) return this.takeName() // The checker reports the wrong case.
    this.expected('a capitalised name')
    return undefined
  }

  /** Enters a nesting level; reports an error and returns false at the limit. */
  enter(): boolean {
    if (this.level >= maxLevel) {
      this.deep(this.span)
      return false
    }
    this.level++
    return true
  }

  leave(): void {
    this.level--
  }

  /** Stops parsing: the rest of the source is skipped. */
  deep(span: Span): void {
    this.report('parse.too_deep', span, `The code is nested more than ${maxLevel} levels deep.`, {
      hints: ['Bind a part of the expression with let, or move the code into a function.'],
    })
    this.#tooDeep = true
    this.at = this.tokens.count - 1
  }

  /** Parses the contents of brackets (line ends ignored) or of a block (line ends significant). */
  within<R>(lineEndsCount: boolean, read: (c: this) => R): R {
    const {lineEndsCount: counted, inHead, inGuard} = this
    this.lineEndsCount = lineEndsCount
    this.inHead = false
    this.inGuard = false
    const result = read(this)
    this.lineEndsCount = counted
    this.inHead = inHead
    this.inGuard = inGuard
    return result
  }

  /** Skips from an opening bracket past its closing bracket; returns false if it is not closed. */
  skipBalanced(): boolean {
    let depth = 0
    do {
      const {kind} = this
      if (kind === T.parenOpen || kind === T.bracketOpen || kind === T.braceOpen) depth++
      else if (kind === T.parenClose || kind === T.bracketClose || kind === T.braceClose) depth--
      else if (kind === T.eof) return false
      this.at++
    } while (depth > 0)
    return true
  }

  /** Like `skipBalanced`, and reports a bracket that is not closed, because everything up to the end is skipped. */
  skipGroup(): void {
    const {kind, start} = this
    if (!this.skipBalanced()) this.expectClosing(kind + 1, start)
  }

  /** Skips the rest of the line, including brackets opened on it; stops before a closing brace. */
  skipToLineEnd(): void {
    while (this.kind !== T.eof && this.kind !== T.braceClose && this.kind !== T.semicolon && !this.firstOnLine) {
      if (this.kind === T.braceOpen || this.kind === T.parenOpen || this.kind === T.bracketOpen) this.skipBalanced()
      else this.next()
    }
  }

  /** Comma-separated items up to a closing bracket; `read` reports a missing item and returns undefined. */
  items<R>(close: number, read: (c: this) => R | undefined): R[] {
    let items: R[] = []
    while (this.kind !== close && this.kind !== T.eof) {
      const item = read(this)
      if (item === undefined) break
      items = appended(items, item)
      if (!this.take(T.comma) && !(close === T.braceClose && this.#lacksComma())) break
    }
    return items
  }

  /** Reports a comma that is missing before the next entry of an object. */
  #lacksComma(): boolean {
    if (!(isWord(this.kind) || this.kind === T.string) || this.peek(1) !== T.colon) return false
    this.expected("','", {hints: ['Write a comma between the entries of an object.']})
    return true
  }

  /** Like `items`, including the closing bracket. */
  list<R>(close: number, read: (c: this) => R | undefined): R[] {
    const items = this.items(close, read)
    this.expect(close)
    return items
  }

  /** Whether `{` starts an object: before `}`, `...`, a word or string and a colon, or a word and a comma. */
  get isObjectAhead(): boolean {
    const next = this.peek(1)
    if (next === T.braceClose || next === T.spread) return true
    const after = this.peek(2)
    return isWord(next) ? after === T.colon || after === T.comma : next === T.string && after === T.colon
  }

  /** Whether `{` precedes one word and `}`: a block, or an object where only an object is possible. */
  get isOneWordAhead(): boolean {
    return isName(this.peek(1)) && this.peek(2) === T.braceClose
  }

  get isEmptyAhead(): boolean {
    return this.peek(1) === T.braceClose
  }
}
