import {
  blockComment,
  character,
  doubled,
  type Form,
  hereDocument,
  lexerOf,
  lineComment,
  multiline,
  nestedComment,
  quoted,
  raw,
  token,
} from './forms.js'
import {lexMarkdown} from './markdown.js'
import {lexScript} from './script.js'
import {endOfLine, fillGaps, type Lexer, type Span} from './spans.js'

const slashes = lineComment('//')
const slashStar = blockComment('/\\*', '*/')
const nestedSlashStar = nestedComment('/*', '*/')
const double = quoted('"')
const single = quoted("'")
const tripleDouble = multiline('"""')
const tripleSingle = multiline("'''")
/** A hash that starts a comment only at the start of a word. */
const hash = lineComment('(?<!\\S)#')
const anyHash = lineComment('#')
/** Quotes at the start of a value, so that an apostrophe in an unquoted value does not start a string. */
const valueQuotes = ['"', "'"].map((quote) => quoted(quote, `(?<![^\\s=:,([{])${quote}`))

const lexC = lexerOf([
  slashes,
  slashStar,
  raw('R"[^()\\\\\\s"]{0,16}\\(', (opener) => `)${opener.slice(2, -1)}"`),
  double,
  quoted("'", "(?<!\\d)'"),
])
const lexStyle = lexerOf([slashStar, double, single])
const lexShell = lexerOf([token('\\\\.'), hash, hereDocument, multiline('"'), raw("'", "'")])
const lexData = lexerOf([hash, lineComment('^;'), ...valueQuotes])
const lexHash = lexerOf([hash, hereDocument, double, single])
const phpForms: Form[] = [slashes, slashStar, lineComment('#(?!\\[)'), hereDocument, multiline('"'), multiline("'")]

/** Parts of a page in another language: the pattern that starts a part, the one that ends it, and its lexer. */
const embedded: readonly [open: string, close: string, lex: Lexer][] = [
  ['<script\\b[^<>]{0,500}>', '</script', lexScript],
  ['<style\\b[^<>]{0,500}>', '</style', lexStyle],
  ['<\\?(?:php|=)', '\\?>', lexerOf(phpForms)],
]
const lexPage: Lexer = (text) => {
  const spans: Span[] = []
  const opener = new RegExp(`<!--|${embedded.map(([open]) => `(${open})`).join('|')}`, 'gi')
  for (let match = opener.exec(text); match !== null; match = opener.exec(text)) {
    const from = opener.lastIndex
    const [, close, lex] = embedded[match.indexOf(match[0], 1) - 1] ?? [undefined, '-->', undefined]
    const closer = new RegExp(close, 'gi')
    closer.lastIndex = from
    const end = closer.exec(text)?.index ?? text.length
    opener.lastIndex = lex === undefined ? Math.min(end + close.length, text.length) : end
    if (lex === undefined) spans.push({kind: 'comment', start: match.index, end: opener.lastIndex})
    else
      for (const {kind, start, end: stop} of lex(text.slice(from, end)))
        spans.push({kind, start: start + from, end: stop + from})
  }
  return spans
}

/** Names of languages, as extensions of files or complete names in lower case, with their lexers. */
const lexers: readonly [names: string, lex: Lexer][] = [
  ['js mjs cjs jsx ts mts cts tsx', lexScript],
  ['c h cc cpp cxx hpp hh m mm proto glsl', lexC],
  ['java groovy gradle jenkinsfile', lexerOf([slashes, slashStar, tripleDouble, tripleSingle, double, single])],
  ['json jsonc json5 zig sol v', lexerOf([slashes, slashStar, double, single])],
  ['go', lexerOf([slashes, slashStar, raw('`', '`'), double, single])],
  [
    'rs',
    lexerOf([
      slashes,
      nestedSlashStar,
      raw('\\br#{0,16}"', (opener) => `"${opener.slice(1, -1)}`),
      multiline('"'),
      character,
    ]),
  ],
  ['cs', lexerOf([slashes, slashStar, raw('"""', '"""'), doubled('"', '(?:@\\$?|\\$@)"'), double, single])],
  ['kt kts swift scala dart', lexerOf([slashes, nestedSlashStar, tripleDouble, tripleSingle, double, character])],
  ['css', lexStyle],
  ['scss less', lexerOf([lineComment('(?<!:)//'), slashStar, double, single])],
  ['py pyi ex exs jl nim', lexerOf([anyHash, tripleDouble, tripleSingle, double, single])],
  ['toml', lexerOf([anyHash, tripleDouble, raw("'''", "'''"), double, single])],
  ['svc', lexerOf([slashes, anyHash, double, single])],
  ['tf hcl', lexerOf([slashes, slashStar, hash, hereDocument, double])],
  ['ps1 psm1', lexerOf([blockComment('<#', '#>'), hash, multiline('"'), raw("'", "'")])],
  ['rb rake gemfile rakefile', lexerOf([blockComment('^=begin\\b', '\n=end'), hash, hereDocument, double, single])],
  ['pl pm r', lexHash],
  ['sh bash zsh fish', lexShell],
  ['yaml yml ini conf cfg properties env dockerfile makefile mk cmake requirements', lexData],
  ['sql', lexerOf([lineComment('--'), slashStar, raw("'", "'"), raw('"', '"')])],
  [
    'lua',
    lexerOf([
      {...raw('--\\[={0,8}\\[', (opener) => opener.slice(2).replaceAll('[', ']')), kind: 'comment'},
      lineComment('--'),
      raw('\\[={0,8}\\[', (opener) => opener.replaceAll('[', ']')),
      double,
      single,
    ]),
  ],
  [
    'hs elm',
    lexerOf([
      nestedComment('{-', '-}'),
      lineComment('--(?!>)'),
      double,
      {...character, open: `(?<!\\w)${character.open}`},
    ]),
  ],
  ['html htm xml xhtml svg vue svelte php phtml', lexPage],
  ['md markdown mdx txt rst adoc', lexMarkdown],
]
const lexerByName = new Map(lexers.flatMap(([names, lex]) => names.split(' ').map((name) => [name, lex] as const)))

/** The language of a file: its extension, or its whole name, in lower case; empty if the language is unknown. */
export function languageOf(path: string): string {
  const file = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (/^\.env\b/.test(file)) return 'env'
  if (/^requirements.*\.txt$/.test(file)) return 'requirements'
  if (file === 'cmakelists.txt') return 'cmake'
  const extension = file.slice(file.lastIndexOf('.') + 1)
  if (lexerByName.has(extension)) return extension
  return /^(?:dockerfile|makefile|gemfile|rakefile|jenkinsfile)\b/.exec(file)?.[0] ?? ''
}

/** Languages of documents, in which text outside comments and code is prose. */
export const isProse = (language: string): boolean => lexerByName.get(language) === lexMarkdown

/** Splits a text into spans that cover it. A text in an unknown language is prose. */
export function spansOf(text: string, language: string): Span[] {
  const lex = lexerByName.get(language)
  if (lex === undefined || lex === lexMarkdown) return fillGaps(lex?.(text) ?? [], text.length, 'prose')
  if (!text.startsWith('#!')) return fillGaps(lex(text), text.length, 'code')
  const start = endOfLine(text, 0)
  const spans = lex(text.slice(start)).map((span) => ({...span, start: span.start + start, end: span.end + start}))
  return fillGaps([{kind: 'comment', start: 0, end: start}, ...spans], text.length, 'code')
}
