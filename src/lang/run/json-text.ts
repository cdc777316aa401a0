/** A number of a JSON text that a double does not hold exactly. The type that it is decoded to decides about it. */
export class InexactNumber {
  readonly text: string
  /** The nearest double; infinite beyond the range. */
  readonly value: number
  constructor(text: string) {
    this.text = text
    this.value = Number(text)
  }
}

/** A JSON text that does not have one meaning, or is nested too deep. */
export class JsonFault extends SyntaxError {
  /** The repeated key, and how many objects and lists enclose it. */
  readonly duplicate: {key: string; depth: number} | undefined
  constructor(message: string, duplicate?: JsonFault['duplicate']) {
    super(message)
    this.duplicate = duplicate
  }
}

/** Maximum nesting of lists and objects. SQLite accepts 1000. */
const maxDepth = 500

/**
 * Parses JSON. Unlike `JSON.parse`, it loses nothing silently: a number that would be rounded is an InexactNumber, and a
 * repeated key is an error.
 * @throws SyntaxError
 */
export function parseJsonText(text: string): unknown {
  if (text.length < longNumber && shortInteger.test(text)) return Number(text)
  const parsed: unknown = JSON.parse(text)
  const inexact = scan(text)
  return inexact.length === 0 ? parsed : parseWith(text, inexact)
}

interface Place {
  start: number
  end: number
}

const shortInteger = /^-?(?:0|[1-9]\d*)$/
const numberAt = /-?\d[\d.eE+-]*/y
/** The number of characters from which a number without exponent may need more than 53 bits. */
const longNumber = 16

/** Reads a valid text. Returns the numbers that are not exact. @throws JsonFault */
function scan(text: string): Place[] {
  const inexact: Place[] = []
  /** The keys of each enclosing object; undefined for a list. */
  const enclosing: (Set<string> | undefined)[] = []
  let isKey = false
  for (let at = 0; at < text.length; ) {
    const character = text[at] as string
    if (character === '"') {
      const end = stringEnd(text, at)
      if (isKey) addKey(enclosing, text.slice(at, end))
      isKey = false
      at = end
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      numberAt.lastIndex = at
      const [literal = character] = numberAt.exec(text) ?? []
      const end = at + literal.length
      if ((literal.length >= longNumber || /[eE]/.test(literal)) && !isExact(literal)) inexact.push({start: at, end})
      at = end
    } else {
      if (character === '{' || character === '[') {
        enclosing.push(character === '{' ? new Set() : undefined)
        if (enclosing.length > maxDepth) throw new JsonFault(`lists and objects are nested more than ${maxDepth} deep`)
        isKey = character === '{'
      } else if (character === '}' || character === ']') {
        enclosing.pop()
        isKey = false
      } else if (character === ',') isKey = enclosing.at(-1) !== undefined
      at++
    }
  }
  return inexact
}

/** The end of the string that starts at a quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function addKey(enclosing: readonly (Set<string> | undefined)[], literal: string): void {
  const key = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)
  const keys = enclosing.at(-1)
  if (keys?.has(key)) throw new JsonFault(`the key ${literal} occurs twice`, {key, depth: enclosing.length})
  keys?.add(key)
}

const isExact = (literal: string): boolean => normal(literal) === normal(String(Number(literal)))

/** The digits without leading and trailing zeros, and the exponent: equal numbers have equal texts. */
function normal(literal: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? []
  const digits = `${integer}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return integer === '' ? literal : '0'
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** Parses again, with an object in place of each inexact number that the reviver recognises. */
function parseWith(text: string, inexact: readonly Place[]): unknown {
  let mark = 'number'
  while (text.includes(mark)) mark += '_'
  let marked = ''
  let last = 0
  for (const {start, end} of inexact) {
    marked += `${text.slice(last, start)}{"${mark}":"${text.slice(start, end)}"}`
    last = end
  }
  return JSON.parse(marked + text.slice(last), (_, value: unknown) =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, mark)
      ? new InexactNumber((value as Record<string, string>)[mark] as string)
      : value,
  )
}
