import {SvcError} from '../../errors/index.js'
import type {Ended, LexerState} from '../lexer/lexer.js'
import {limits} from '../limits.js'
import type {Productions} from './from-grammar.js'
import type {Residual} from './residual.js'

/** A rule that is open: what it still expects, and the column where it began. */
export interface Item {
  readonly id: number
  readonly rule: number
  readonly rest: Residual
  readonly origin: Column
}

/** What follows where a rule has ended. */
interface Continuation {
  readonly items: readonly Item[]
  /** Whether the grammar may be complete. */
  readonly accepting: boolean
}

/**
 * The rules that may be open where lexemes end. Unlike a column of Earley's algorithm, it belongs to no position: places of
 * a text at which the same rules are open share it. So elements of an array, for example, reuse what the first computed.
 */
export interface Column {
  readonly id: number
  readonly accepting: boolean
  /** The items that are open, and the rules that begin here. */
  readonly items: readonly Item[]
  /** The lexemes that may follow; undefined if there are none. */
  readonly lexemes: LexerState | undefined
  /** The nested grammars that may follow, by their numbers among lexemes. */
  readonly nested: readonly number[]
  /** Number of rules that are open, each within the one before. */
  readonly depth: number
  /** Columns after the lexemes that end together, by the id of `Ended`. */
  after: Map<number, Column> | undefined
  /** What follows a rule that began here. */
  returns: Map<number, Continuation> | undefined
}

/** Lexemes that end at the same place and began at the same column. */
export interface Ending {
  readonly column: Column
  readonly ended: Ended
}

/** Creates columns on demand and keeps them until `forget`. */
export class Columns {
  readonly #productions: Productions
  #columns = new Map<string, Column>()
  #items = new Map<string, Item>()
  #ids = 0
  #itemIds = 0
  readonly start: Column
  /** Items visited so far. */
  steps = 0

  constructor(productions: Productions) {
    this.#productions = productions
    const {rules, start} = productions
    this.start = this.#create([], rules[start]!.nullable, [start])
  }

  /** Approximate memory of what is kept for reuse, bytes. */
  get bytes(): number {
    return 800 * this.#columns.size + 250 * (this.#items.size + this.#productions.residuals.size)
  }

  /** Stops reusing the columns so far, so that those that are not in use can be collected. */
  forget(): void {
    this.#columns = new Map()
    this.#items = new Map()
    this.#productions.residuals.forget()
    this.start.after = undefined
  }

  /** The column where lexemes end. @throws grammar_limit */
  after(endings: readonly Ending[]): Column {
    const only = endings.length === 1 ? endings[0] : undefined
    const known = only?.column.after?.get(only.ended.id)
    if (known !== undefined) return known
    const items = new Set<Item>()
    let accepting = false
    const add = (each: Continuation) => {
      for (const item of each.items) items.add(item)
      accepting ||= each.accepting
    }
    for (const {column, ended} of endings)
      for (const item of column.items) {
        const {lexemes} = this.#productions.residuals.transitions(item.rest)
        this.steps++
        for (const lexeme of ended.lexemes)
          for (const rest of lexemes.get(lexeme) ?? []) {
            if (rest !== this.#productions.residuals.empty) items.add(this.#item(item.rule, rest, item.origin))
            if (rest.nullable) add(this.#returns(item.origin, item.rule))
          }
      }
    const column = this.#column([...items], accepting)
    if (only !== undefined) {
      only.column.after ??= new Map()
      only.column.after.set(only.ended.id, column)
    }
    return column
  }

  #item(rule: number, rest: Residual, origin: Column): Item {
    const key = `${rule},${rest.id},${origin.id}`
    const known = this.#items.get(key)
    if (known !== undefined) return known
    const item = {id: this.#itemIds++, rule, rest, origin}
    this.#items.set(key, item)
    return item
  }

  #column(items: Item[], accepting: boolean): Column {
    items.sort((a, b) => a.id - b.id)
    const key = `${accepting ? '+' : ''}${items.map(({id}) => id)}`
    const known = this.#columns.get(key)
    if (known !== undefined) return known
    const column = this.#create(items, accepting, [])
    this.#columns.set(key, column)
    return column
  }

  /** @param begun rules that begin here in any case */
  #create(open: readonly Item[], accepting: boolean, begun: readonly number[]): Column {
    const {residuals, rules, lexer} = this.#productions
    const items: Item[] = [...open]
    const lexemes = new Set<number>()
    const depth = open.reduce((max, {origin}) => Math.max(max, origin.depth + 1), 0)
    if (depth > limits.openRules) throw new SvcError('grammar_limit', {what: 'open rules', limit: limits.openRules})
    const column: {-readonly [K in keyof Column]: Column[K]} = {
      id: this.#ids++,
      accepting,
      items,
      lexemes: undefined,
      nested: [],
      depth,
      after: undefined,
      returns: undefined,
    }
    const seen = new Set<number>()
    const begin = (rule: number) => {
      if (seen.has(rule)) return
      seen.add(rule)
      items.push({id: this.#itemIds++, rule, rest: rules[rule]!, origin: column})
    }
    for (const rule of begun) begin(rule)
    for (let i = 0; i < items.length; i++) {
      this.steps++
      if (i > limits.items) throw new SvcError('grammar_limit', {what: 'items of a column', limit: limits.items})
      const next = residuals.transitions(items[i]!.rest)
      for (const lexeme of next.lexemes.keys()) lexemes.add(lexeme)
      for (const rule of next.rules.keys()) begin(rule)
    }
    const sorted = [...lexemes].sort((a, b) => a - b)
    column.nested = sorted.filter((lexeme) => lexeme < 0)
    if (sorted.length > column.nested.length) column.lexemes = lexer.start(sorted.slice(column.nested.length))
    return column
  }

  /**
   * What follows a rule that began at a column and has ended. Rules that end with it are left out, so that the chain of
   * a right recursion is not followed each time. Source: Leo, "A general context-free parsing algorithm running in
   * linear time on every LR(k) grammar without using lookahead", 1991.
   */
  #returns(origin: Column, rule: number): Continuation {
    const known = origin.returns?.get(rule)
    if (known !== undefined) return known
    const {residuals, start} = this.#productions
    const items = new Set<Item>()
    let accepting = false
    const seen = new Map<Column, Set<number>>()
    const open = [{column: origin, rule}]
    const enqueue = (column: Column, ended: number) => {
      const rules = seen.get(column) ?? new Set()
      seen.set(column, rules)
      if (rules.has(ended)) return
      rules.add(ended)
      open.push({column, rule: ended})
    }
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const {column} = next
      const found = column.returns?.get(next.rule)
      if (found !== undefined) {
        for (const item of found.items) items.add(item)
        accepting ||= found.accepting
        continue
      }
      if (column === this.start && next.rule === start) accepting = true
      for (const item of column.items) {
        this.steps++
        for (const rest of residuals.transitions(item.rest).rules.get(next.rule) ?? []) {
          if (rest !== residuals.empty) items.add(this.#item(item.rule, rest, item.origin))
          if (rest.nullable) enqueue(item.origin, item.rule)
        }
      }
    }
    const continuation = {items: [...items], accepting}
    origin.returns ??= new Map()
    origin.returns.set(rule, continuation)
    return continuation
  }
}
