/** Titles of the tests of a source file, as far as they can be read without running it. */
interface TestTitles {
  /** Titles that are written out. */
  literal: ReadonlySet<string>
  /** Patterns of the beginnings of titles with substitutions; each group is the text of a substitution. */
  patterns: readonly RegExp[]
  /** True if a table of the file provides titles. */
  hasVariable: boolean
}

const stringOf = (text: string) => text.slice(1, -1).replaceAll(/\\(.)/g, '$1')

const call = /\b(?:describe|it|test)(?:\.\w+)*\(\s*/g
const argument = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}]|\{[^{}]*\})*\})*`|\w+/y
const substitution = /\$\{(?:[^{}]|\{[^{}]*\})*\}/

export function testTitles(source: string): TestTitles {
  const literal = new Set<string>()
  const patterns: RegExp[] = []
  let hasVariable = false
  for (const {index, 0: start} of source.matchAll(call)) {
    argument.lastIndex = index + start.length
    const title = argument.exec(source)?.[0] ?? ''
    if (/^\w/.test(title)) hasVariable = true
    else if (substitution.test(title)) patterns.push(...patternsOf(stringOf(title)))
    else literal.add(stringOf(title))
  }
  return {literal, patterns, hasVariable}
}

/**
 * A pattern for the complete title, and one for each beginning that ends with the text between two substitutions. Each
 * needs a word of the template, so that no pattern matches everything.
 */
function patternsOf(template: string): RegExp[] {
  const pieces = template.split(substitution)
  return pieces.flatMap((piece, last) => {
    const beginning = pieces.slice(0, last + 1)
    const ends = last === pieces.length - 1 ? beginning.join('') : piece
    if (!/[a-z]{2}/i.test(ends)) return []
    return new RegExp(
      `^${beginning
        .map(escaped)
        .join('(.+?)')
        .replace(/[\s"(]+$/, '')}$`,
      's',
    )
  })
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * True if the source has a test of this title. In a title with substitutions, the file must contain the substituted
 * texts, and a title from a table must be a string of the file.
 */
export function hasTest(source: string, {literal, patterns, hasVariable}: TestTitles, title: string): boolean {
  if (literal.has(title)) return true
  if (hasVariable && ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`))) return true
  return patterns.some((pattern) => {
    const found = pattern.exec(title)
    return found?.slice(1).every((text) => source.includes(text)) ?? false
  })
}
