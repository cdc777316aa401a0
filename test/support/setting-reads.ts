/**
 * Whether code reads a property: as `.name`, or in a destructuring pattern, renamed or not. Keys of object literals do
 * not count.
 * @param code result of `codeOf`
 */
export function readsProperty(code: string, name: string): boolean {
  if (!code.includes(name)) return false
  if (new RegExp(`\\.${name}(?![\\w$])`).test(code)) return true
  if (new RegExp(`[{,]\\s*${name}\\s*[,}=]`).test(code)) return true
  return [...code.matchAll(new RegExp(`[{,]\\s*${name}\\s*:`, 'g'))].some(({index}) => isInPattern(code, index + 1))
}

/** The source without comments and strings, but with the expressions in template strings. */
export const codeOf = (source: string): string =>
  source.replace(
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/g,
    (literal) => (literal.startsWith('`') ? `(${expressionsOf(literal).join(', ')})` : "''"),
  )

const expressionsOf = (template: string): string[] =>
  [...template.matchAll(/\$\{([^}]*)\}/g)].map(([, expression = '']) => expression)

/** Whether the braces around a position are a pattern: `=` and a value, or `:` and a type, follow them. */
function isInPattern(code: string, start: number): boolean {
  let depth = 1
  for (let at = start; at < code.length; at++) {
    if (code[at] === '{') depth++
    if (code[at] === '}') depth--
    if (depth === 0) return /^\s*(=(?![=>])|:)/.test(code.slice(at + 1, at + 80))
  }
  return false
}
