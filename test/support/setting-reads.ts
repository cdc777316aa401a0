/**
 * Whether code reads a property: as `.name`, by its own name in a destructuring pattern, or renamed in one. Keys of
 * object literals do not count.
 * @param code as `codeOf` gives it
 */
export function readsProperty(code: string, name: string): boolean {
  if (!code.includes(name)) return false
  if (new RegExp(`\\.${name}(?![\\w$])`).test(code)) return true
  if (new RegExp(`[{,]\\s*${name}\\s*[,}=]`).test(code)) return true
  return [...code.matchAll(new RegExp(`[{,]\\s*${name}\\s*:`, 'g'))].some(({index}) => isInPattern(code, index + 1))
}

/** The code of a source without comments and strings; expressions in template strings stay. */
export const codeOf = (source: string): string =>
  source.replace(
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/g,
    (literal) => (literal.startsWith('`') ? `(${expressionsOf(literal).join(', ')})` : "''"),
  )

const expressionsOf = (template: string): string[] =>
  [...template.matchAll(/\$\{([^}]*)\}/g)].map(([, expression = '']) => expression)

/** Whether the braces around a position are a pattern: its value, or the type of a parameter, follows them. */
function isInPattern(code: string, start: number): boolean {
  let depth = 1
  for (let at = start; at < code.length; at++) {
    if (code[at] === '{') depth++
    if (code[at] === '}') depth--
    if (depth === 0) return /^\s*(=(?![=>])|:)/.test(code.slice(at + 1, at + 80))
  }
  return false
}
