import type {Expression, Grammar, Pattern} from '../../../src/grammar/index.js'

/** Letters of one, two and four bytes. */
const letters = ['a', 'b', '😀']
/** A letter that grammars do not mention: it stands for all others. */
export const otherLetter = 'é'
export const alphabet = [...letters, otherLetter]

/** A random grammar over letters, with recursion, empty rules, ambiguity, intersections and complements. */
export function randomGrammar(uniform: () => number): Grammar {
  const below = (count: number) => Math.floor(uniform() * count)
  const pick = <T>(options: readonly T[]): T => options[below(options.length)]!
  const some = <T>(make: () => T, max: number): T[] => Array.from({length: 1 + below(max)}, make)
  const bounds = () => {
    const min = below(3)
    return {min, max: uniform() < 0.4 ? Number.POSITIVE_INFINITY : min + below(3)}
  }
  const characters = (): Pattern => {
    const codes = letters.map((letter) => letter.codePointAt(0)!).filter(() => uniform() < 0.5)
    const wide = uniform() < 0.2
    return {
      kind: 'characters',
      ranges: wide
        ? [
            [0, 0xd7ff],
            [0xe000, 0x10ffff],
          ]
        : codes.map((code) => [code, code]),
    }
  }
  const text = (): Pattern => ({kind: 'text', text: Array.from({length: below(3)}, () => pick(letters)).join('')})
  const pattern = (depth: number): Pattern => {
    const kind = depth === 0 ? below(2) : below(9)
    if (kind < 2) return kind === 0 ? text() : characters()
    const next = () => pattern(depth - 1)
    if (kind < 4) return {kind: 'sequence', parts: some(next, 3)}
    if (kind < 5) return {kind: 'either', options: some(next, 3)}
    if (kind < 7) return {kind: 'repeat', part: next(), ...bounds()}
    return kind < 8 ? {kind: 'both', parts: some(next, 2)} : {kind: 'not', part: next()}
  }
  const names = ['s', 't', 'u'].slice(0, 1 + below(3))
  const expression = (depth: number): Expression => {
    const kind = depth === 0 ? below(2) : below(7)
    if (kind === 0) return {kind: 'lexeme', pattern: pattern(2)}
    if (kind === 1) return uniform() < 0.5 ? {kind: 'lexeme', pattern: text()} : {kind: 'rule', name: pick(names)}
    const next = () => expression(depth - 1)
    if (kind < 4) return {kind: 'sequence', parts: some(next, 3)}
    if (kind < 6) return {kind: 'either', options: some(next, 3)}
    return {kind: 'repeat', part: next(), ...bounds()}
  }
  const alternatives = (): Expression => ({kind: 'either', options: [expression(2), expression(1)]})
  return {start: 's', rules: new Map(names.map((name) => [name, alternatives()]))}
}
