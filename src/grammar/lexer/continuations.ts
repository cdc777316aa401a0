import {SvcError} from '../../errors/index.js'
import {limits} from '../limits.js'
import {type ByteSet, hasByte} from './byte-set.js'
import type {Regex, Regexes} from './regex.js'

/**
 * Decides what can follow in expressions with intersections and complements, by searching their derivatives for one that
 * matches the empty text. The answers and the derivatives are kept per expression.
 */
export class Continuations {
  readonly #regexes: Regexes
  readonly #bytes: readonly number[]
  #derivatives = new Map<Regex, (Regex | undefined)[]>()
  #isAlive = new Map<Regex, boolean>()

  /** @param bytes one of each class of bytes that the expressions distinguish */
  constructor(regexes: Regexes, bytes: readonly number[]) {
    this.#regexes = regexes
    this.#bytes = bytes
  }

  /** Number of expressions with derivatives that are kept. */
  get rows(): number {
    return this.#derivatives.size
  }

  /** Drops what is known, so that expressions that are not in use can be collected. */
  forget(): void {
    this.#derivatives = new Map()
    this.#isAlive = new Map()
  }

  /** @param byteClass index of the byte */
  derivative(regex: Regex, byteClass: number): Regex {
    const byte = this.#bytes[byteClass]!
    if (regex.plain) return this.#regexes.derivative(regex, byte)
    let known = this.#derivatives.get(regex)
    if (known === undefined) {
      known = new Array(this.#bytes.length)
      this.#derivatives.set(regex, known)
    }
    known[byteClass] ??= this.#regexes.derivative(regex, byte)
    return known[byteClass]
  }

  /** Whether the expression matches anything. @throws grammar_limit */
  isAlive(regex: Regex): boolean {
    if (regex.plain) return regex !== this.#regexes.nothing
    if (regex.nullable) return true
    return this.#isAlive.get(regex) ?? this.#search(regex)
  }

  /** Whether the expression matches a text that is not empty. @throws grammar_limit */
  canContinue(regex: Regex): boolean {
    if (regex.plain) return regex !== this.#regexes.nothing && regex !== this.#regexes.empty
    if (!regex.nullable) return this.isAlive(regex)
    return this.#distinctClasses(regex).some((byteClass) => this.isAlive(this.derivative(regex, byteClass)))
  }

  /** A class of bytes for each derivative that the expression may have (Owens, Reppy and Turon, 2009). */
  #distinctClasses(regex: Regex): number[] {
    const known = new Set<string>()
    const firsts = [...firstsOf(regex)]
    return Array.from(this.#bytes, (_, byteClass) => byteClass).filter((byteClass) => {
      const byte = this.#bytes[byteClass]!
      const key = firsts.map((first) => (hasFirst(first, byte) ? '1' : '0')).join('')
      return known.size < known.add(key).size
    })
  }

  /** Depth first, the shortest first, so that the search goes straight to an end of counted repetitions. */
  #search(start: Regex): boolean {
    const parents = new Map<Regex, Regex | undefined>([[start, undefined]])
    const open = [start]
    for (let regex = open.pop(); regex !== undefined; regex = open.pop()) {
      if (regex.nullable || (regex.plain && regex !== this.#regexes.nothing) || this.#isAlive.get(regex) === true) {
        for (let at: Regex | undefined = regex; at !== undefined; at = parents.get(at)) this.#isAlive.set(at, true)
        return true
      }
      const next = new Set<Regex>()
      for (const byteClass of this.#distinctClasses(regex)) {
        const derivative = this.derivative(regex, byteClass)
        if (derivative === this.#regexes.nothing || this.#isAlive.get(derivative) === false) continue
        if (!parents.has(derivative)) next.add(derivative)
      }
      for (const each of [...next].sort((a, b) => b.shortest - a.shortest)) {
        parents.set(each, regex)
        open.push(each)
      }
      if (parents.size > limits.search)
        throw new SvcError('grammar_limit', {what: 'states of an intersection or complement', limit: limits.search})
    }
    for (const each of parents.keys()) this.#isAlive.set(each, false)
    return false
  }
}

/** A byte, or a set of bytes, with which a part of an expression begins. */
type First = number | ByteSet

const hasFirst = (first: First, byte: number) => (typeof first === 'number' ? first === byte : hasByte(first, byte))

/** What decides which derivative an expression has. */
function firstsOf(regex: Regex, into = new Set<First>()): Set<First> {
  if (regex.kind === 'text') into.add(regex.text.charCodeAt(0))
  else if (regex.kind === 'byte') into.add(regex.set)
  else if (regex.kind === 'either') for (const each of regex.options) firstsOf(each, into)
  else if (regex.kind === 'both') for (const each of regex.parts) firstsOf(each, into)
  else if (regex.kind === 'not' || regex.kind === 'repeat') firstsOf(regex.part, into)
  else if (regex.kind === 'sequence') {
    firstsOf(regex.head, into)
    if (regex.head.nullable) firstsOf(regex.tail, into)
  }
  return into
}
