import type {Pattern} from '../grammar.js'
import {byteSet} from './byte-set.js'
import type {Regex, Regexes} from './regex.js'
import {utf8Ranges} from './utf8.js'

/**
 * Converts patterns over characters to expressions over their UTF-8 bytes.
 * @returns a function that converts a pattern; it converts objects that occur several times once
 */
export function patternReader(regexes: Regexes): (pattern: Pattern) => Regex {
  const known = new Map<Pattern, Regex>()
  const anyText = () => regexes.repeat(charactersOf(regexes, [[0, 0x10ffff]]), 0, Number.POSITIVE_INFINITY)
  /** Without the condition that a complement is valid UTF-8, where the context has it. */
  const convert = (part: Pattern, isText: boolean): Regex => {
    if (isText) return create(part, isText)
    const regex = known.get(part) ?? create(part, isText)
    known.set(part, regex)
    return regex
  }
  const create = (part: Pattern, isText: boolean): Regex => {
    const next = (each: Pattern) => convert(each, false)
    switch (part.kind) {
      case 'text':
        return regexes.text(Buffer.from(part.text).toString('latin1'))
      case 'characters':
        return charactersOf(regexes, part.ranges)
      case 'sequence':
        return part.parts.reduceRight((rest, each) => regexes.sequence(next(each), rest), regexes.empty)
      case 'either':
        return factored(regexes, part.options.map(next))
      case 'repeat':
        return regexes.repeat(next(part.part), part.min, part.max)
      case 'both': {
        if (part.parts.length === 0) return isText ? regexes.anything : anyText()
        // One part ensures for all of them that the text is valid.
        const anchor = Math.max(0, part.parts.findIndex(ensuresText))
        return regexes.both(part.parts.map((each, i) => convert(each, isText || i !== anchor)))
      }
      case 'not': {
        const complement = regexes.not(convert(part.part, true))
        return isText ? complement : regexes.both([anyText(), complement])
      }
    }
  }
  return (pattern) => convert(pattern, false)
}

/**
 * An alternative whose options differ in their first byte, as far as they begin with a text. Therefore a list of words
 * is a tree, and a derivative keeps one branch.
 */
function factored(regexes: Regexes, options: readonly Regex[]): Regex {
  const others: Regex[] = []
  const words: Word[] = []
  for (const option of new Set(options.flatMap((each) => (each.kind === 'either' ? each.options : [each])))) {
    const [head, tail] = option.kind === 'sequence' ? [option.head, option.tail] : [option, regexes.empty]
    if (head.kind === 'text') words.push({text: head.text, tail})
    else others.push(option)
  }
  return tree(regexes, words, 0, others)
}

interface Word {
  readonly text: string
  readonly tail: Regex
}

/** What follows the first `from` bytes, which the words share, or one of the other options. */
function tree(regexes: Regexes, words: readonly Word[], from: number, others: Regex[]): Regex {
  const groups = new Map<number, Word[]>()
  for (const word of words) {
    if (word.text.length === from) others.push(word.tail)
    else {
      const first = word.text.charCodeAt(from)
      const group = groups.get(first)
      if (group === undefined) groups.set(first, [word])
      else group.push(word)
    }
  }
  for (const group of groups.values()) {
    const [{text, tail}] = group as [Word, ...Word[]]
    if (group.length === 1) others.push(regexes.sequence(regexes.text(text.slice(from)), tail))
    else {
      const length = group.reduce((max, each) => commonLength(each.text, text, max), text.length)
      const prefix = regexes.text(text.slice(from, length))
      others.push(regexes.sequence(prefix, tree(regexes, group, length, [])))
    }
  }
  return regexes.either(others)
}

function commonLength(a: string, b: string, max: number): number {
  let length = 0
  while (length < max && a[length] === b[length]) length++
  return length
}

/** Whether the expression of a pattern matches valid UTF-8 only, without a condition added to it. */
const ensuresText = (pattern: Pattern): boolean =>
  pattern.kind === 'both' ? pattern.parts.some(ensuresText) : pattern.kind !== 'not'

function charactersOf(regexes: Regexes, ranges: readonly (readonly [number, number])[]): Regex {
  const sequences = ranges.flatMap(([first, last]) => utf8Ranges(first, last))
  const build = (lists: readonly (readonly (readonly [number, number])[])[]): Regex => {
    const single = lists.filter(({length}) => length === 1).map(([range]) => range!)
    const longer = lists.filter(({length}) => length > 1)
    const byFirst = new Map<string, {range: readonly [number, number]; rests: (typeof lists)[number][]}>()
    for (const list of longer) {
      const [range, ...rest] = list
      const key = range!.join()
      const group = byFirst.get(key) ?? {range: range!, rests: []}
      byFirst.set(key, group)
      group.rests.push(rest)
    }
    const heads = new Map<Regex, (readonly [number, number])[]>()
    for (const {range, rests} of byFirst.values()) {
      const rest = build(rests)
      heads.set(rest, [...(heads.get(rest) ?? []), range])
    }
    return regexes.either([
      regexes.byte(byteSet(single)),
      ...[...heads].map(([rest, firsts]) => regexes.sequence(regexes.byte(byteSet(firsts)), rest)),
    ])
  }
  return build(sequences)
}
