import {type DiagnosticCode, severities} from './codes.js'

/** A stretch of the source: offsets in UTF-16 units, the end not included. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Fix extends Span {
  label: string
  replacement: string
}

/** What a stage found in a program. */
export interface Diagnostic extends Span {
  code: DiagnosticCode
  severity: 'error' | 'warning'
  message: string
  expectedType?: string
  foundType?: string
  missing?: readonly string[]
  hints?: readonly string[]
  fixes?: readonly Fix[]
  related?: readonly (Span & {message: string})[]
}

export type DiagnosticDetails = Partial<Omit<Diagnostic, 'code' | 'severity' | 'message' | 'start' | 'end'>>

/** More than anyone reads; a file of garbage does not fill the memory. */
const maxDiagnostics = 1000

/** Collects what the stages find. A place has at most one parse error. */
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

  /** Also those that were too many to keep. */
  get hasErrors(): boolean {
    return this.#hasErrors
  }

  /** By position, then by code. */
  sorted(): Diagnostic[] {
    return [...this.#found].sort((a, b) => a.start - b.start || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0))
  }
}
