import type {Diagnostics} from '../diagnostics/index.js'
import {type Comment, reservedWords, T, type Tokens} from './token.js'

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
const isWordPart = (c: number) => c < 128 && (classes[c] === wordStart || classes[c] === digit)

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
const escapable = new Set([...'ntr\\"\'0'].map((c) => c.charCodeAt(0)))

/** Splits a source into tokens. Never fails: invalid characters are reported and skipped. */
export function lex(source: string, diagnostics: Diagnostics): Tokens {
  return new Lexer(source, diagnostics).run()
}

class Lexer {
  readonly #source: string
  readonly #diagnostics: Diagnostics
  readonly #comments: Comment[] = []
  #kinds: Uint8Array
  #starts: Uint32Array
  #ends: Uint32Array
  #newlines: Uint8Array
  #count = 0
  #at = 0
  #newline = 1

  constructor(source: string, diagnostics: Diagnostics) {
    this.#source = source
    this.#diagnostics = diagnostics
    const capacity = (source.length >> 2) + 16
    this.#kinds = new Uint8Array(capacity)
    this.#starts = new Uint32Array(capacity)
    this.#ends = new Uint32Array(capacity)
    this.#newlines = new Uint8Array(capacity)
  }

  run(): Tokens {
    const source = this.#source
    if (source.charCodeAt(0) === 0xfeff) this.#at = 1
    while (this.#at < source.length) {
      const c = source.charCodeAt(this.#at)
      if (c === newline) {
        this.#newline = 1
        this.#at++
      } else if (c < 128 && classes[c] === blank) this.#at++
      else if (isWordStart(c)) this.#word(c)
      else if (isDigit(c)) this.#number()
      else if (c === quote || c === apostrophe) this.#string(c)
      else if (c === hash) this.#comment()
      else if (c === slash && source.charCodeAt(this.#at + 1) === slash) this.#comment()
      else if (c === slash && source.charCodeAt(this.#at + 1) === star) this.#blockComment()
      else if (c === at && isWordStart(source.charCodeAt(this.#at + 1))) this.#decorator()
      else this.#symbol(c)
    }
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
    }
  }

  #push(kind: number, start: number, end: number): void {
    if (this.#count === this.#kinds.length) this.#grow()
    const i = this.#count++
    this.#kinds[i] = kind
    this.#starts[i] = start
    this.#ends[i] = end
    this.#newlines[i] = this.#newline
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
  }

  #word(first: number) {
    const source = this.#source
    const start = this.#at
    let end = start + 1
    while (isWordPart(source.charCodeAt(end))) end++
    if (end - start === 1 && first === 95) return this.#push(T.wildcard, start, end)
    if (first >= 65 && first <= 90) return this.#push(T.upper, start, end)
    const reserved = end - start <= 8 ? reservedWords.get(source.slice(start, end)) : undefined
    this.#push(reserved ?? T.lower, start, end)
  }

  #digits(from: number): number {
    let end = from
    while (isDigit(this.#source.charCodeAt(end))) end++
    return end
  }

  #number(): void {
    const source = this.#source
    const start = this.#at
    let kind: number = T.int
    let end = this.#digits(start)
    if (source.charCodeAt(end) === dot && isDigit(source.charCodeAt(end + 1))) {
      kind = T.float
      end = this.#digits(end + 1)
    }
    if (source.startsWith('dec', end) && !isWordPart(source.charCodeAt(end + 3))) {
      kind = T.dec
      end += 3
    } else if (kind === T.int && end - start > 15 && BigInt(source.slice(start, end)) > Number.MAX_SAFE_INTEGER)
      this.#diagnostics.report('parse.int_range', {start, end}, 'Integer literal is outside the safe range.', {
        hints: ['Integers must be between -9007199254740991 and 9007199254740991.'],
      })
    this.#push(kind, start, end)
  }

  #string(delimiter: number) {
    const source = this.#source
    const start = this.#at
    let end = start + 1
    for (;;) {
      const c = source.charCodeAt(end)
      if (c === delimiter) return this.#push(T.string, start, end + 1)
      if (Number.isNaN(c) || c === newline) break
      if (c === backslash && end + 1 < source.length && source.charCodeAt(end + 1) !== newline) {
        if (!escapable.has(source.charCodeAt(end + 1))) this.#unknownEscape(end)
        end++
      }
      end++
    }
    if (source.charCodeAt(end - 1) === 13) end--
    this.#diagnostics.report('parse.unterminated_string', {start, end}, 'String literal is not closed on its line.', {
      hints: ['Write \\n for a line break inside a string.'],
    })
    this.#push(T.string, start, end)
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

  #decorator(): void {
    const source = this.#source
    const start = this.#at
    let end = start + 1
    for (;;) {
      while (isWordPart(source.charCodeAt(end))) end++
      if (source.charCodeAt(end) !== dot || !isWordStart(source.charCodeAt(end + 1))) break
      end++
    }
    this.#push(T.decorator, start, end)
  }

  #symbol(c: number) {
    const start = this.#at
    const second = this.#source.charCodeAt(start + 1)
    const pairs = c < 128 ? twoCharacters[c] : undefined
    if (pairs !== undefined)
      for (let i = 0; i < pairs.length; i += 2)
        if (pairs[i] === second) return this.#push(pairs[i + 1] as number, start, start + 2)
    const kind = c < 128 ? (oneCharacter[c] ?? 0) : 0
    if (kind !== 0) return this.#push(kind, start, start + 1)
    const character = String.fromCodePoint(this.#source.codePointAt(start) ?? c)
    const label = /\p{C}/u.test(character) ? `U+${character.codePointAt(0)?.toString(16).toUpperCase()}` : character
    this.#at = start + character.length
    const hint = foreignCharacters.get(character)
    const details = hint === undefined ? {} : {hints: [hint]}
    this.#diagnostics.report(
      'parse.unexpected_char',
      {start, end: this.#at},
      `Unexpected character '${label}'.`,
      details,
    )
  }
}

/** Characters with a meaning in other languages, and what to write instead. */
const foreignCharacters: ReadonlyMap<string, string> = new Map([
  ['&', 'Write and instead of &&.'],
  ['`', 'Write text in double quotes, and join it with +.'],
  ['$', 'Operators of where have no $: write { n: { gt: 1 } }.'],
])

const escapes: Readonly<Record<string, string>> = {n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'", '0': '\0'}

export function stringValue(literal: string): string {
  const closed = literal.length > 1 && literal.endsWith(literal.charAt(0))
  const inner = literal.slice(1, closed ? -1 : undefined)
  return inner.includes('\\') ? inner.replace(/\\(.)/gs, (both, character) => escapes[character] ?? both) : inner
}
