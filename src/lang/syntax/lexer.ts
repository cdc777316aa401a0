import type {Diagnostics} from '../diagnostics/index.js'
import {foreignCharacters, foreignOperators, foreignStarts} from './foreign-characters.js'
import {type Comment, T, type Tokens} from './token.js'
import {Words} from './words.js'

/** Character classes by ASCII code, so that each character needs one lookup. */
const wordStart = 1
const digit = 2
const blank = 4
const classes = new Uint8Array(128)
for (let c = 0; c < 128; c++) {
  const text = String.fromCharCode(c)
  if (/[A-Za-z_]/.test(text)) classes[c] = wordStart
  if (/[0-9]/.test(text)) classes[c] = digit
  if (/[ \t\r]/.test(text)) classes[c] = blank
}
const isWordStart = (c: number) => c < 128 && classes[c] === wordStart
const isDigit = (c: number) => c < 128 && classes[c] === digit
const isWordPart = (c: number) => c < 128 && ((classes[c] as number) & (wordStart | digit)) !== 0

const symbols: readonly (readonly [string, number])[] = [
  ['==', T.equal],
  ['!=', T.notEqual],
  ['+=', T.plusAssign],
  ['-=', T.minusAssign],
  ['*=', T.starAssign],
  ['/=', T.slashAssign],
  ['->', T.arrow],
  ['=>', T.fatArrow],
  ['|>', T.pipeForward],
  ['<=', T.lessEqual],
  ['>=', T.greaterEqual],
  ['(', T.parenOpen],
  [')', T.parenClose],
  ['[', T.bracketOpen],
  [']', T.bracketClose],
  ['{', T.braceOpen],
  ['}', T.braceClose],
  [':', T.colon],
  [',', T.comma],
  ['.', T.dot],
  ['?', T.question],
  ['=', T.assign],
  ['|', T.bar],
  ['<', T.less],
  ['>', T.greater],
  ['+', T.plus],
  ['-', T.minus],
  ['*', T.star],
  ['/', T.slash],
  ['%', T.percent],
  ['!', T.bang],
  [';', T.semicolon],
]
const oneCharacter = new Uint8Array(128)
/** Two-character symbols by their first character: second character and kind, alternating. */
const twoCharacters: number[][] = Array.from({length: 128}, () => [])
for (const [text, kind] of symbols) {
  const first = text.charCodeAt(0)
  if (text.length === 1) oneCharacter[first] = kind
  else twoCharacters[first]?.push(text.charCodeAt(1), kind)
}

const newline = 10
const quote = 34
const hash = 35
const apostrophe = 39
const slash = 47
const star = 42
const dot = 46
const at = 64
const backslash = 92
const letterD = 100
const letterF = 102
const braceOpen = 123
const braceClose = 125
const escapable = new Set([...'ntr\\"\'0'].map((c) => c.charCodeAt(0)))

/** Splits a source into tokens. Never fails: invalid characters are reported and skipped. */
export function lex(source: string, diagnostics: Diagnostics): Tokens {
  return new Lexer(source, diagnostics).run()
}

class Lexer {
  readonly #source: string
  readonly #diagnostics: Diagnostics
  readonly #comments: Comment[] = []
  /** The code units of the source and a final 0: reading an array is faster than reading a string. */
  readonly #codes: Uint16Array
  readonly #words: Words
  #kinds: Uint8Array
  #starts: Uint32Array
  #ends: Uint32Array
  #newlines: Uint8Array
  #wordIds: Uint32Array
  #count = 0
  #at = 0
  #newline = 1
  /** The texts with expressions that are open, `f"{`, with their quotes and the braces that are open in them. */
  readonly #texts: {start: number; quote: number; depth: number}[] = []

  constructor(source: string, diagnostics: Diagnostics) {
    this.#source = source
    this.#diagnostics = diagnostics
    this.#codes = new Uint16Array(source.length + 1)
    Buffer.from(this.#codes.buffer).write(source, 'utf16le')
    this.#words = new Words(source, this.#codes)
    const capacity = Math.ceil(source.length / 3) + 16
    this.#kinds = new Uint8Array(capacity)
    this.#starts = new Uint32Array(capacity)
    this.#ends = new Uint32Array(capacity)
    this.#newlines = new Uint8Array(capacity)
    this.#wordIds = new Uint32Array(capacity)
  }

  run(): Tokens {
    const source = this.#source
    const codes = this.#codes
    if (codes[0] === 0xfeff) this.#at = 1
    while (this.#at < source.length) {
      const c = codes[this.#at] as number
      if (c === newline) {
        if (this.#texts.length > 0) this.#endTexts()
        this.#newline = 1
        this.#at++
      } else if (c < 128 && classes[c] === blank) this.#at++
      else if (isWordStart(c)) this.#word(c)
      else if (isDigit(c)) this.#number()
      else if (c === quote || c === apostrophe) this.#string(c)
      else if (c === hash) this.#comment()
      else if (c === slash && codes[this.#at + 1] === slash) this.#comment()
      else if (c === slash && codes[this.#at + 1] === star) this.#blockComment()
      else if (c === at && isWordStart(codes[this.#at + 1] as number)) this.#word(c, true)
      else this.#symbol(c)
    }
    this.#endTexts()
    this.#push(T.eof, source.length, source.length)
    const count = this.#count
    return {
      source,
      count,
      kinds: this.#kinds.subarray(0, count),
      starts: this.#starts.subarray(0, count),
      ends: this.#ends.subarray(0, count),
      newlines: this.#newlines.subarray(0, count),
      comments: this.#comments,
      words: this.#words.texts,
      wordIds: this.#wordIds.subarray(0, count),
    }
  }

  #push(kind: number, start: number, end: number, word = 0): void {
    if (this.#count === this.#kinds.length) this.#grow()
    const i = this.#count++
    this.#kinds[i] = kind
    this.#starts[i] = start
    this.#ends[i] = end
    this.#newlines[i] = this.#newline
    this.#wordIds[i] = word
    this.#newline = 0
    this.#at = end
  }

  #grow(): void {
    const capacity = this.#kinds.length * 2
    const larger = <A extends Uint8Array | Uint32Array>(make: new (n: number) => A, old: A) => {
      const array = new make(capacity)
      array.set(old)
      return array
    }
    this.#kinds = larger(Uint8Array, this.#kinds)
    this.#starts = larger(Uint32Array, this.#starts)
    this.#ends = larger(Uint32Array, this.#ends)
    this.#newlines = larger(Uint8Array, this.#newlines)
    this.#wordIds = larger(Uint32Array, this.#wordIds)
  }

  /** A word or decorator that starts with a code. `dotted`: dots between words belong to it. */
  #word(first: number, dotted = false) {
    const codes = this.#codes
    const start = this.#at
    let end = start
    let code = first
    let hashed = 0
    do {
      hashed = (Math.imul(hashed, 31) + code) | 0
      code = codes[++end] as number
    } while (isWordPart(code) || (dotted && code === dot && isWordStart(codes[end + 1] as number)))
    if (first === letterF && end === start + 1 && (code === quote || code === apostrophe)) {
      this.#texts.push({start, quote: code, depth: 0})
      this.#text(start, end + 1)
      return
    }
    const word = this.#words.find(start, end, hashed)
    this.#push(this.#words.kinds[word] as number, start, end, word)
  }

  #digits(from: number): number {
    let end = from
    while (isDigit(this.#codes[end] as number)) end++
    return end
  }

  #number(): void {
    const source = this.#source
    const codes = this.#codes
    const start = this.#at
    let kind: number = T.int
    let end = this.#digits(start)
    if (codes[end] === dot && isDigit(codes[end + 1] as number)) {
      kind = T.float
      end = this.#digits(end + 1)
    }
    if (codes[end] === letterD && source.startsWith('dec', end) && !isWordPart(codes[end + 3] as number)) {
      kind = T.dec
      end += 3
    } else if (kind === T.int && end - start > 15 && BigInt(source.slice(start, end)) > Number.MAX_SAFE_INTEGER)
      this.#diagnostics.report('parse.int_range', {start, end}, 'Integer literal is outside the safe range.', {
        hints: ['Integers must be between -9007199254740991 and 9007199254740991.'],
      })
    this.#push(kind, start, end)
  }

  #string(delimiter: number) {
    const codes = this.#codes
    const {length} = this.#source
    const start = this.#at
    let end = start + 1
    for (;;) {
      const c = codes[end] as number
      if (c === delimiter) return this.#push(T.string, start, end + 1)
      if (end === length || c === newline) break
      if (c === backslash && end + 1 < length && codes[end + 1] !== newline) {
        if (!escapable.has(codes[end + 1] as number)) this.#unknownEscape(end)
        end++
      }
      end++
    }
    if (codes[end - 1] === 13) end--
    this.#diagnostics.report('parse.unterminated_string', {start, end}, 'String literal is not closed on its line.', {
      hints: ['Write \\n for a line break inside a string.'],
    })
    this.#push(T.string, start, end)
  }

  /** The part of a text up to its next expression or its end. `from`: after its quote or the brace of an expression. */
  #text(start: number, from: number): void {
    const codes = this.#codes
    const {length} = this.#source
    const open = this.#texts.at(-1) as {start: number; quote: number}
    const isFirst = start === open.start
    for (let end = from; end < length && codes[end] !== newline; end++) {
      const c = codes[end] as number
      if (c === open.quote) {
        this.#texts.pop()
        this.#push(isFirst ? T.textWhole : T.textEnd, start, end + 1)
        return
      }
      const isDoubled = codes[end + 1] === c
      if (c === braceOpen && !isDoubled) {
        this.#push(isFirst ? T.textStart : T.textMiddle, start, end + 1)
        return
      }
      if (c === backslash && end + 1 < length && codes[end + 1] !== newline) {
        if (!escapable.has(codes[end + 1] as number)) this.#unknownEscape(end)
        end++
      } else if ((c === braceOpen || c === braceClose) && isDoubled) end++
    }
    const line = this.#source.indexOf('\n', from)
    this.#at = line === -1 ? length : line
    this.#endTexts(isFirst ? T.textWhole : T.textEnd, start)
  }

  /** Reports the texts that are open at the end of a line. */
  #endTexts(kind: number = T.textEnd, start = this.#at): void {
    const end = this.#at
    for (let open = this.#texts.pop(); open !== undefined; open = this.#texts.pop()) {
      const span = {start: open.start, end}
      this.#diagnostics.report('parse.unterminated_string', span, 'String literal is not closed on its line.', {
        hints: ['Write \\n for a line break inside a string.'],
      })
      this.#push(kind, start, end)
    }
  }

  #unknownEscape(start: number): void {
    const character = String.fromCodePoint(this.#source.codePointAt(start + 1) ?? 0)
    this.#diagnostics.report(
      'parse.unknown_escape',
      {start, end: start + 1 + character.length},
      `Unknown escape \\${character}; both characters are kept.`,
      {fixes: [{label: 'Write the backslash twice', start, end: start + 1, replacement: '\\\\'}]},
    )
  }

  #comment(): void {
    const line = this.#source.indexOf('\n', this.#at)
    const end = line === -1 ? this.#source.length : line
    this.#comments.push({start: this.#at, end, beforeToken: this.#count})
    this.#at = end
  }

  #blockComment(): void {
    const start = this.#at
    const close = this.#source.indexOf('*/', start + 2)
    const line = this.#source.indexOf('\n', start)
    const end = close !== -1 ? close + 2 : line === -1 ? this.#source.length : line
    if (this.#source.slice(start, end).includes('\n')) this.#newline = 1
    this.#diagnostics.report(
      'parse.block_comment',
      {start, end},
      'Block comments are not part of the language; use // on each line.',
    )
    this.#at = end
  }

  #symbol(c: number) {
    const start = this.#at
    const text = this.#texts.at(-1)
    if (text !== undefined) {
      if (c === braceClose && text.depth === 0) {
        this.#text(start, start + 1)
        return
      }
      if (c === braceOpen) text.depth++
      if (c === braceClose) text.depth--
    }
    if (c < 128 && foreignStarts[c] === 1 && this.#foreignOperator(start)) return
    const second = this.#codes[start + 1]
    if (c === dot && second === dot && this.#codes[start + 2] === dot) return this.#push(T.spread, start, start + 3)
    const pairs = c < 128 ? twoCharacters[c] : undefined
    if (pairs !== undefined)
      for (let i = 0; i < pairs.length; i += 2)
        if (pairs[i] === second) return this.#push(pairs[i + 1] as number, start, start + 2)
    const kind = c < 128 ? (oneCharacter[c] ?? 0) : 0
    if (kind !== 0) return this.#push(kind, start, start + 1)
    const character = String.fromCodePoint(this.#source.codePointAt(start) ?? c)
    const label = /\p{C}/u.test(character) ? `U+${character.codePointAt(0)?.toString(16).toUpperCase()}` : character
    this.#at = start + character.length
    const isTemplate = character === '`' && this.#template(start)
    const hint = foreignCharacters.get(character)
    const details = hint === undefined ? {} : {hints: [hint]}
    this.#diagnostics.report(
      'parse.unexpected_char',
      {start, end: this.#at},
      `Unexpected character '${label}'.`,
      details,
    )
    if (isTemplate) this.#push(T.textWhole, start, this.#at)
  }

  /** Whether a template of TypeScript ends on its line; moves to its end. */
  #template(start: number): boolean {
    const end = this.#source.indexOf('`', start + 1)
    const line = this.#source.indexOf('\n', start)
    if (end === -1 || (line !== -1 && line < end)) return false
    this.#at = end + 1
    return true
  }

  /** Reports an operator of another language, and replaces it. */
  #foreignOperator(start: number): boolean {
    const found = foreignOperators.find(([text]) => this.#source.startsWith(text, start))
    if (found === undefined) return false
    const [text, hint, kind] = found
    const end = start + text.length
    this.#diagnostics.report('parse.unexpected_char', {start, end}, `There is no operator '${text}'.`, {hints: [hint]})
    this.#push(kind, start, end)
    return true
  }
}

const escapes: Readonly<Record<string, string>> = {n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'", '0': '\0'}

export function stringValue(literal: string): string {
  const closed = literal.length > 1 && literal.endsWith(literal.charAt(0))
  return unescaped(literal.slice(1, closed ? -1 : undefined))
}

/** The characters of a part of `f"..."`, from its quote or a brace to the next one. */
export const textValue = (part: string): string =>
  unescaped(part.slice(part.startsWith('f') ? 2 : 1, -1).replace(/([{}])\1/g, '$1'))

function unescaped(inner: string): string {
  return inner.includes('\\') ? inner.replace(/\\(.)/gs, (both, character) => escapes[character] ?? both) : inner
}
