import type {Pattern} from '../grammar.js'

/** Inclusive ranges of code points. */
export type Ranges = readonly (readonly [number, number])[]

const lastCodePoint = 0x10_ff_ff
const surrogates = [0xd8_00, 0xdf_ff] as const

/** Matches the empty text. */
export const emptyText: Pattern = {kind: 'text', text: ''}

/** Matches no text. */
export const noText: Pattern = {kind: 'either', options: []}

const isNoText = (pattern: Pattern): boolean => pattern.kind === 'either' && pattern.options.length === 0

export const text = (value: string): Pattern => ({kind: 'text', text: value})

/** One character of the ranges, which need neither order nor disjointness. Surrogates are removed. */
export function characters(ranges: Ranges): Pattern {
  const normal = normalRanges(ranges)
  return normal.length === 0 ? noText : {kind: 'characters', ranges: normal}
}

/** Sorted, disjoint, without surrogates. */
export function normalRanges(ranges: Ranges): Ranges {
  const [low, high] = surrogates
  const scalar = ranges.flatMap(([from, to]): Ranges => {
    return [[from, Math.min(to, low - 1)] as const, [Math.max(from, high + 1), Math.min(to, lastCodePoint)] as const]
  })
  const merged: [number, number][] = []
  for (const [from, to] of scalar.filter(([a, b]) => a <= b).toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  return merged
}

/** The characters that are not in the ranges. */
export function complementRanges(ranges: Ranges): Ranges {
  const gaps: [number, number][] = []
  let next = 0
  for (const [from, to] of normalRanges([...ranges, surrogates])) {
    if (from > next) gaps.push([next, from - 1])
    next = to + 1
  }
  if (next <= lastCodePoint) gaps.push([next, lastCodePoint])
  return normalRanges(gaps)
}

/** The characters of the first ranges that are in the second, too. */
export const commonRanges = (a: Ranges, b: Ranges): Ranges =>
  complementRanges([...complementRanges(a), ...complementRanges(b)])

export const anyCharacter: Pattern = characters([[0, lastCodePoint]])

export const digit: Pattern = characters([[0x30, 0x39]])

/** A pattern whose parts follow each other; neighbouring texts become one. */
export function sequence(...parts: readonly Pattern[]): Pattern {
  const flat: Pattern[] = []
  for (const part of parts.flatMap((each) => (each.kind === 'sequence' ? each.parts : [each]))) {
    const last = flat.at(-1)
    if (isNoText(part)) return noText
    if (part.kind === 'text' && part.text === '') continue
    if (part.kind === 'text' && last?.kind === 'text') flat[flat.length - 1] = text(last.text + part.text)
    else flat.push(part)
  }
  return flat.length === 0 ? emptyText : flat.length === 1 ? flat[0]! : {kind: 'sequence', parts: flat}
}

export function either(...options: readonly Pattern[]): Pattern {
  const flat = options.flatMap((each) => (each.kind === 'either' ? each.options : [each]))
  return flat.length === 1 ? flat[0]! : {kind: 'either', options: flat}
}

export function repeat(part: Pattern, min = 0, max = Number.POSITIVE_INFINITY): Pattern {
  if (max === 0 || (isNoText(part) && min === 0)) return emptyText
  if (isNoText(part) || max < min) return noText
  return min === 1 && max === 1 ? part : {kind: 'repeat', part, min, max}
}

export const optional = (part: Pattern): Pattern => repeat(part, 0, 1)

/** Text that all patterns match. Without patterns, any text. */
export function both(...parts: readonly Pattern[]): Pattern {
  const flat = parts.flatMap((each) => (each.kind === 'both' ? each.parts : [each])).filter((each) => each !== anyText)
  if (flat.some(isNoText)) return noText
  return flat.length === 0 ? anyText : flat.length === 1 ? flat[0]! : {kind: 'both', parts: flat}
}

export const not = (part: Pattern): Pattern => (part.kind === 'not' ? part.part : {kind: 'not', part})

export const anyText: Pattern = repeat(anyCharacter)

/** True if the pattern matches the empty text. */
export function matchesEmpty(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'text':
      return pattern.text === ''
    case 'characters':
      return false
    case 'sequence':
    case 'both':
      return pattern.parts.every(matchesEmpty)
    case 'either':
      return pattern.options.some(matchesEmpty)
    case 'repeat':
      return pattern.min === 0 || matchesEmpty(pattern.part)
    case 'not':
      return !matchesEmpty(pattern.part)
  }
}
