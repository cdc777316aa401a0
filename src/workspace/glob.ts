import {SvcError} from '../errors/index.js'

/** A compiled pattern. */
interface Glob {
  /** The pattern with its braces expanded, each alternative as a list of path segments. */
  alternatives: readonly (readonly Segment[])[]
}

/** `**` as a complete segment matches any number of folders. */
type Segment = typeof anyDepth | readonly string[]

const anyDepth = Symbol('**')
const maxPatterns = 1024
const remembered = new Map<string, Glob>()

/**
 * True if a path matches a pattern. `*` matches any text within a name, `?` one character, a segment `**` any number of
 * folders, and `{a,b}` either alternative. Matching is case-sensitive and includes hidden files. A pattern with a
 * trailing slash matches everything below the folder. Paths are relative, with `/`.
 *
 * Time is O(pattern length × path length) for any pattern: only the last of several stars is ever retried. That is
 * sufficient because the text between two stars has a fixed length.
 * @throws usage if the braces expand to more than 1024 patterns
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const names = segmentsOf(path)
  return compile(pattern).alternatives.some((segments) => matches(segments, names, isAnyDepth, fitsName))
}

const isAnyDepth = (segment: Segment) => segment === anyDepth
const isStar = (character: string) => character === '*'
const fitsCharacter = (wanted: string, character: string) => wanted === '?' || wanted === character
const fitsName = (segment: Segment, name: string) =>
  segment !== anyDepth && matches(segment, [...name], isStar, fitsCharacter)

/** Matches the items of the pattern to those of the text in order; a star matches as few items as possible. */
function matches<P, T>(
  pattern: readonly P[],
  text: readonly T[],
  isAny: (item: P) => boolean,
  fits: (item: P, value: T) => boolean,
): boolean {
  let at = 0
  let star = -1
  let taken = 0
  for (let i = 0; i < text.length; ) {
    const item = pattern[at]
    if (item !== undefined && isAny(item)) {
      star = at++
      taken = i
    } else if (item !== undefined && fits(item, text[i] as T)) {
      at++
      i++
    } else if (star !== -1) {
      at = star + 1
      i = ++taken
    } else return false
  }
  while (at < pattern.length && isAny(pattern[at] as P)) at++
  return at === pattern.length
}

function compile(pattern: string): Glob {
  const known = remembered.get(pattern)
  if (known !== undefined) return known
  const glob = {alternatives: expand(pattern, pattern).map(parse)}
  if (remembered.size >= maxPatterns) remembered.clear()
  remembered.set(pattern, glob)
  return glob
}

function parse(pattern: string): Segment[] {
  const segments = segmentsOf(pattern).map((name): Segment => (name === '**' ? anyDepth : [...name]))
  if (pattern.endsWith('/')) segments.push(anyDepth)
  // A trailing `**` matches the contents of the folder, not the folder itself.
  if (segments.at(-1) === anyDepth) segments.push(['*'])
  return segments
}

const segmentsOf = (path: string) => path.split('/').filter((name) => name !== '' && name !== '.')

/** Expands all braces of a pattern. A brace that is not closed, or has no comma, is literal text. */
function expand(pattern: string, whole: string): string[] {
  const braces = outerBraces(pattern)
  if (braces === undefined) return [pattern]
  const {before, choices, after} = braces
  const heads = choices.flatMap((choice) => expand(choice, whole)).map((choice) => before + choice)
  const tails = expand(after, whole)
  if (heads.length * tails.length > maxPatterns)
    throw new SvcError('usage', {reason: `The pattern "${whole}" expands to more than ${maxPatterns} patterns.`})
  return heads.flatMap((head) => tails.map((tail) => head + tail))
}

/** The first pair of braces that directly contains a comma. */
function outerBraces(pattern: string): {before: string; choices: string[]; after: string} | undefined {
  for (let open = pattern.indexOf('{'); open !== -1; open = pattern.indexOf('{', open + 1)) {
    const commas: number[] = []
    let depth = 0
    for (let i = open; i < pattern.length; i++) {
      const character = pattern[i]
      if (character === '{') depth++
      else if (character === '}') depth--
      else if (character === ',' && depth === 1) commas.push(i)
      if (depth > 0) continue
      if (commas.length === 0) break
      const edges = [open, ...commas, i]
      const choices = edges.slice(1).map((edge, n) => pattern.slice((edges[n] as number) + 1, edge))
      return {before: pattern.slice(0, open), choices, after: pattern.slice(i + 1)}
    }
  }
  return undefined
}
