import {constraintPrefix} from '../emit/index.js'

/**
 * A parsed CREATE TABLE statement. A rebuilt table keeps all of its parts, including those that the language does
 * not support: references, checks, collations, computed columns and column order.
 * Source: the grammar of CREATE TABLE in the SQLite documentation.
 */
export interface TableText {
  items: Item[]
  /** The text after the parentheses, such as `STRICT` or `WITHOUT ROWID`. */
  tail: string
}

/** A column with its name, or a table constraint. */
interface Item {
  column: string | undefined
  text: string
}

interface Token {
  text: string
  start: number
  end: number
  /** The number of enclosing parentheses. */
  depth: number
}

const tokenPattern =
  /--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[\p{L}\p{N}_$.]+|[^\s]/gu

function tokensOf(sql: string): Token[] {
  const tokens: Token[] = []
  let depth = 0
  for (const {0: text, index: start} of sql.matchAll(tokenPattern)) {
    if (text.startsWith('--') || text.startsWith('/*')) continue
    if (text === ')') depth--
    tokens.push({text, start, end: start + text.length, depth})
    if (text === '(') depth++
  }
  return tokens
}

const tableConstraints = new Set(['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN'])
const columnConstraints = new Set([
  ...['CONSTRAINT', 'PRIMARY', 'NOT', 'NULL', 'UNIQUE', 'CHECK', 'DEFAULT', 'COLLATE', 'REFERENCES', 'GENERATED', 'AS'],
])

/** @throws TypeError if `sql` is not a CREATE TABLE statement */
export function readTable(sql: string): TableText {
  const tokens = tokensOf(sql)
  const open = tokens.find(({text, depth}) => text === '(' && depth === 0)
  const close = tokens.findLast(({text, depth}) => text === ')' && depth === 0)
  if (open === undefined || close === undefined) throw new TypeError(`not a CREATE TABLE statement: ${sql}`)
  const items: Item[] = []
  let start = open.end
  let first: Token | undefined
  let last: Token | undefined
  const add = () => {
    if (first === undefined || last === undefined) return
    const isConstraint = tableConstraints.has(first.text.toUpperCase())
    items.push({column: isConstraint ? undefined : bare(first.text), text: sql.slice(start, last.end).trim()})
    first = undefined
  }
  for (const token of tokens) {
    if (token.start < open.end || token.start >= close.start) continue
    if (token.text === ',' && token.depth === 1) {
      add()
      start = token.end
      continue
    }
    first ??= token
    last = token
  }
  add()
  return {items, tail: sql.slice(close.end).trim()}
}

/** A name without quotes. */
function bare(name: string): string {
  const mark = name.charAt(0)
  if (mark === '[') return name.slice(1, -1)
  return mark === '"' || mark === '`' || mark === "'" ? name.slice(1, -1).replaceAll(mark + mark, mark) : name
}

export const writeTable = (name: string, {items, tail}: TableText): string =>
  `CREATE TABLE ${name} (\n  ${items.map(({text}) => text).join(',\n  ')}\n)${tail === '' ? '' : ` ${tail}`};`

const isColumn =
  (name: string) =>
  ({column}: Item): boolean =>
    column?.toLowerCase() === name.toLowerCase()

/** Appends a column. */
export function withColumn({items, tail}: TableText, column: string, definition: string): TableText {
  const at = items.findLastIndex((item) => item.column !== undefined) + 1
  return {items: items.toSpliced(at, 0, {column, text: definition}), tail}
}

export const withoutColumn = ({items, tail}: TableText, column: string): TableText => ({
  items: items.filter((item) => !isColumn(column)(item)),
  tail,
})

/** Changes the type or nullability of a column; removes a default of the old type. */
export function retyped({items, tail}: TableText, column: string, type: string, isRequired: boolean): TableText {
  return {
    items: items.map((item) =>
      isColumn(column)(item) ? {column, text: retypeColumn(item.text, type, isRequired)} : item,
    ),
    tail,
  }
}

function retypeColumn(text: string, type: string, isRequired: boolean): string {
  const tokens = tokensOf(text)
  const isWord = (token: Token | undefined, word: string) => token?.depth === 0 && token.text.toUpperCase() === word
  const isConstraint = ({text: word, depth}: Token) => depth === 0 && columnConstraints.has(word.toUpperCase())
  const found = tokens.findIndex((token, i) => i > 0 && isConstraint(token))
  const at = found === -1 ? tokens.length : found
  const oldType = tokens
    .slice(1, at)
    .map((token) => token.text)
    .join(' ')
  let rest = ''
  let from = tokens[at]?.start ?? text.length
  let wasRequired = false
  const cut = (first: number, last: number) => {
    rest += text.slice(from, tokens[isWord(tokens[first - 2], 'CONSTRAINT') ? first - 2 : first]?.start)
    from = tokens[last]?.end ?? text.length
  }
  for (let i = at; i < tokens.length; i++)
    if (isWord(tokens[i], 'NOT') && isWord(tokens[i + 1], 'NULL')) {
      wasRequired = true
      if (!isRequired) cut(i, isWord(tokens[i + 2], 'ON') ? i + 4 : i + 1)
    } else if (isWord(tokens[i], 'DEFAULT') && oldType.toUpperCase() !== type) cut(i, defaultEnd(tokens, i + 1))
  rest += text.slice(from)
  const parts = [tokens[0]?.text ?? '', type, isRequired && !wasRequired ? 'NOT NULL' : '', rest.trim()]
  return parts.filter((part) => part !== '').join(' ')
}

/** The last token of a default: an optionally signed value, or an expression in parentheses. */
function defaultEnd(tokens: readonly Token[], at: number): number {
  const text = tokens[at]?.text
  if (text === '+' || text === '-') return at + 1
  if (text !== '(') return at
  return tokens.findIndex((token, i) => i > at && token.text === ')' && token.depth === tokens[at]?.depth)
}

const ownName = /^CONSTRAINT "svc_\w+" /

/** A constraint of a program without its name, which a renamed column keeps. */
export const withoutName = (constraint: string): string => constraint.replace(ownName, '')

/** The constraints that a program declared for a column, without their names. */
export const ownConstraints = (text: TableText, column: string): string[] =>
  text.items
    .filter(isColumn(column))
    .flatMap((item) => spansOf(item.text).map(({start, end}) => withoutName(item.text.slice(start, end))))

/** Replaces the constraints that a program declared for a column. */
export function constrained({items, tail}: TableText, column: string, constraints: readonly string[]): TableText {
  const replaced = (text: string) => {
    const rest = spansOf(text).reduceRight((left, {start, end}) => left.slice(0, start) + left.slice(end), text)
    return [rest.replace(/\s+/g, ' ').trim(), ...constraints].join(' ')
  }
  return {items: items.map((item) => (isColumn(column)(item) ? {column, text: replaced(item.text)} : item)), tail}
}

/** Where the constraints of a program are in the text of a column. Each ends where the next constraint begins. */
function spansOf(text: string): {start: number; end: number}[] {
  const tokens = tokensOf(text)
  return tokens.flatMap(({text: word, start}, i) => {
    const name = tokens[i + 1]?.text ?? ''
    if (word.toUpperCase() !== 'CONSTRAINT' || !name.startsWith(`"${constraintPrefix}`)) return []
    const isCheck = tokens[i + 2]?.text.toUpperCase() === 'CHECK'
    // CHECK ( ... ), or REFERENCES table ( "_id" ) ON DELETE RESTRICT, CASCADE or SET NULL.
    const close = tokens.findIndex((token, at) => at > i + 2 && token.text === ')' && token.depth === 0)
    const last = isCheck ? close : close + (tokens[close + 3]?.text.toUpperCase() === 'SET' ? 4 : 3)
    return [{start, end: tokens[last]?.end ?? text.length}]
  })
}
