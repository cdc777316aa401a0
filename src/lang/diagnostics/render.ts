import type {DbCheckV1, SourceSpan} from '../../contracts/index.js'
import type {Diagnostic, Span, TextDiagnostic} from './diagnostic.js'
import {Lines} from './lines.js'

/** A diagnostic as JSON; lines and columns start at 1. */
export type DiagnosticJson = DbCheckV1['diagnostics'][number]

/** Lines and columns of a range; both start at 1. */
export function spanOf({start, end}: Span, lines: Lines): SourceSpan {
  const from = lines.at(start)
  const to = lines.at(end)
  return {start_line: from.line, start_col: from.col, end_line: to.line, end_col: to.col}
}

export const asJson = (found: Diagnostic, path: string, lines: Lines): DiagnosticJson => ({
  error_code: found.code,
  severity: found.severity,
  category: found.code.slice(0, found.code.indexOf('.')) as DiagnosticJson['category'],
  message: found.message,
  file_path: path,
  span: spanOf(found, lines),
  ast_node_kind: null,
  missing_cases: [...(found.missing ?? [])],
  expected_type: found.expectedType ?? null,
  found_type: found.foundType ?? null,
  correction_hints: [...(found.hints ?? [])],
  suggested_fixes: (found.fixes ?? []).map((fix) => ({
    label: fix.label,
    replacement: fix.replacement,
    span: spanOf(fix, lines),
  })),
  related_spans: (found.related ?? []).map((related) => ({message: related.message, span: spanOf(related, lines)})),
})

const tabWidth = 4
/** Wide characters occupy two terminal columns, combining characters none. */
const segmenter = new Intl.Segmenter()
const columnsOf = (text: string) => {
  let columns = 0
  for (const {segment} of segmenter.segment(text)) {
    const code = segment.codePointAt(0) ?? 0
    const wide =
      /\p{Emoji_Presentation}/u.test(segment) ||
      (code >= 0x1100 && /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\uFF01-\uFF60]/u.test(segment))
    columns += wide ? 2 : 1
  }
  return columns
}
const expandTabs = (text: string) => text.replaceAll('\t', ' '.repeat(tabWidth))

/**
 * Formats diagnostics as text: the message, the position, the source line with carets, then hints, fixes and notes.
 */
export function renderDiagnostics(diagnostics: readonly TextDiagnostic[], path: string, source: string): string {
  const lines = new Lines(source)
  return diagnostics.map((found) => `${renderOne(found, path, lines)}\n`).join('\n')
}

function renderOne(found: TextDiagnostic, path: string, lines: Lines): string {
  const {line, col} = lines.at(found.start)
  const gutter = ' '.repeat(String(line).length)
  const notes = [
    ...(found.hints ?? []).map((hint) => `help: ${hint}`),
    ...(found.fixes ?? []).map((fix) => `fix: ${fix.label}`),
    ...(found.related ?? []).map((related) => `note: ${related.message} at line ${lines.at(related.start).line}`),
  ]
  return [
    `${found.severity}[${found.code}]: ${found.message}`,
    `${gutter}--> ${path}:${line}:${col}`,
    `${gutter} |`,
    ...excerpt(found, lines),
    ...notes.map((note) => `${gutter} = ${note}`),
  ].join('\n')
}

/** Characters shown before and after the start of a diagnostic in a long line. */
const shownBefore = 100
const shownAfter = 120

function excerpt(span: Span, lines: Lines): string[] {
  const {line, col} = lines.at(span.start)
  const end = lines.at(span.end)
  const text = lines.text(line)
  const from = Math.max(0, col - 1 - shownBefore)
  const to = Math.min(text.length, col - 1 + shownAfter)
  const before = (from > 0 ? '…' : '') + expandTabs(text.slice(from, col - 1))
  const marked = expandTabs(text.slice(col - 1, Math.min(to, end.line === line ? end.col - 1 : to)))
  const rest = expandTabs(text.slice(col - 1, to)) + (to < text.length ? '…' : '')
  const gutter = ' '.repeat(String(line).length)
  return [
    `${line} | ${before}${rest}`,
    `${gutter} | ${' '.repeat(columnsOf(before))}${'^'.repeat(Math.max(1, columnsOf(marked)))}`,
  ]
}
