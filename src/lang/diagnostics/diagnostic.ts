import {type DiagnosticCode, severities} from './codes.js'

/** A range of the source: offsets in UTF-16 code units, end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Fix extends Span {
  label: string
  replacement: string
}

/** An error or warning about a text. */
export interface TextDiagnostic extends Span {
  code: string
  severity: 'error' | 'warning'
  message: string
  hints?: readonly string[]
  fixes?: readonly Fix[]
  related?: readonly (Span & {message: string})[]
}

/** An error or warning about a program. */
export interface Diagnostic extends TextDiagnostic {
  code: DiagnosticCode
  expectedType?: string
  foundType?: string
  missing?: readonly string[]
}

export type DiagnosticDetails = Partial<Omit<Diagnostic, 'code' | 'severity' | 'message' | 'start' | 'end'>>

/** Limits memory if the input is not a program. */
const maxDiagnostics = 1000

/** Collects the diagnostics of all stages, with at most one parse error per position. */
export class Diagnostics {
  readonly #found: Diagnostic[] = []
  readonly #parseErrors = new Set<number>()
  #hasErrors = false

  report(code: DiagnosticCode, span: Span, message: string, details: DiagnosticDetails = {}): void {
    const severity = severities[code]
    if (severity === 'error') this.#hasErrors = true
    if (this.#found.length >= maxDiagnostics) return
    if (severity === 'error' && code.startsWith('parse.')) {
      if (this.#parseErrors.has(span.start)) return
      this.#parseErrors.add(span.start)
    }
    this.#found.push({code, severity, message, start: span.start, end: Math.max(span.end, span.start), ...details})
  }

  /** Includes errors beyond the limit, which are not stored. */
  get hasErrors(): boolean {
    return this.#hasErrors
  }

  /** By position, then by code. */
  sorted(): Diagnostic[] {
    return [...this.#found].sort((a, b) => a.start - b.start || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0))
  }
}
