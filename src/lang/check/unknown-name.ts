import {
  type DiagnosticCode,
  type DiagnosticDetails,
  type Diagnostics,
  didYouMean,
  near,
  type Span,
} from '../diagnostics/index.js'
import type {Entry, Name, ObjectExpr} from '../syntax/index.js'
import {repeatedNames} from './names.js'

/** A fix that replaces a name with the suggestion. */
export const fixName = (span: Span, suggestion: string | undefined): DiagnosticDetails =>
  suggestion === undefined
    ? {}
    : {fixes: [{label: `Use ${suggestion}`, start: span.start, end: span.end, replacement: suggestion}]}

/** Reports an unknown name, with the most similar known name as a fix. */
export function reportUnknownName(
  diagnostics: Pick<Diagnostics, 'report'>,
  code: DiagnosticCode,
  name: Name,
  message: string,
  known: Iterable<string>,
  details: DiagnosticDetails = {},
): void {
  reportUnknown(diagnostics, code, name, message, near(name.text, known), details)
}

/** Reports an unknown name, with a suggestion as a fix. */
export function reportUnknown(
  diagnostics: Pick<Diagnostics, 'report'>,
  code: DiagnosticCode,
  name: Name,
  message: string,
  suggestion: string | undefined,
  details: DiagnosticDetails,
): void {
  diagnostics.report(code, name, message + didYouMean(suggestion), {...details, ...fixName(name, suggestion)})
}

export const keyOf = ({key}: Entry): string => key.text

/** Reports the keys that an object has twice. */
export function reportRepeatedKeys(diagnostics: Pick<Diagnostics, 'report'>, {entries}: ObjectExpr): void {
  for (const {key} of repeatedNames(entries, keyOf))
    diagnostics.report('typecheck.duplicate_field', key, `Duplicate key '${key.text}'.`)
}
