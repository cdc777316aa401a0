/**
 * The module specifiers that a TypeScript source loads: static imports and re-exports, `import()` of a literal,
 * `import('…')` types, and `new URL('….js', import.meta.url)`. A small lexer excludes specifiers inside strings and
 * comments.
 */
export function importsOf(source: string): string[] {
  const tokens = tokenize(source)
  const found: string[] = []
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== 'string') continue
    const before = tokens[i - 1]?.text
    const loads =
      before === 'from' ||
      before === 'import' ||
      (before === '(' && tokens[i - 2]?.text === 'import') ||
      (before === '(' && tokens[i - 2]?.text === 'URL' && /^\..*\.js$/.test(token.text))
    if (loads) found.push(token.text)
  }
  return found
}

interface Token {
  kind: 'string' | 'word' | 'mark'
  text: string
}

const patterns: readonly [Token['kind'] | 'skip', RegExp][] = [
  ['skip', /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['string', /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/y],
  ['skip', /`(?:[^`\\]|\\[\s\S])*`/y],
  ['word', /[\p{L}\p{N}_$#]+/uy],
  ['mark', /[\s\S]/y],
]

function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < source.length; ) {
    for (const [kind, pattern] of patterns) {
      pattern.lastIndex = at
      const match = pattern.exec(source)
      if (match === null) continue
      at += match[0].length
      if (kind !== 'skip') tokens.push({kind, text: match[1] ?? match[2] ?? match[0]})
      break
    }
  }
  return tokens
}
