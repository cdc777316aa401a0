import {type Connection, type Diagnostic, DiagnosticSeverity} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import type {Diagnostic as Found} from '../lang/index.js'
import {logger} from '../log/index.js'
import type {Programs} from './programs.js'
import {rangeOf} from './range.js'

/** How long a document must stay as it is before it is checked, ms: nobody reads what is said between two keys. */
const quietMs = 100

/** Tells the editor what is wrong with the open documents. */
export class DiagnosticsPublisher {
  readonly #connection: Connection
  readonly #programs: Programs
  readonly #waiting = new Map<string, NodeJS.Timeout>()

  constructor(connection: Connection, programs: Programs) {
    this.#connection = connection
    this.#programs = programs
  }

  changed(document: TextDocument): void {
    clearTimeout(this.#waiting.get(document.uri))
    const timer = setTimeout(() => this.#publish(document), quietMs)
    timer.unref()
    this.#waiting.set(document.uri, timer)
  }

  /** What is not open is none of the server's business any more. */
  closed({uri}: TextDocument): void {
    clearTimeout(this.#waiting.get(uri))
    this.#waiting.delete(uri)
    this.#send({uri, diagnostics: []})
  }

  #publish(document: TextDocument): void {
    const {uri, version} = document
    this.#waiting.delete(uri)
    const started = performance.now()
    const diagnostics = this.#programs.of(document).diagnostics.map((found) => asDiagnostic(document, found))
    const ms = Math.round(performance.now() - started)
    logger('lsp').debug({uri, version, diagnostics: diagnostics.length, ms}, 'checked')
    this.#send({uri, version, diagnostics})
  }

  #send(params: Parameters<Connection['sendDiagnostics']>[0]): void {
    // Only a client that has gone does not take it, and that ends the server anyway.
    this.#connection.sendDiagnostics(params).catch(() => {})
  }
}

const severities = {error: DiagnosticSeverity.Error, warning: DiagnosticSeverity.Warning} as const

/** What the language found, as the protocol says it. */
export function asDiagnostic(document: TextDocument, found: Found): Diagnostic {
  const {hints = [], related = []} = found
  return {
    range: rangeOf(document, found),
    severity: severities[found.severity],
    code: found.code,
    source: 'svc',
    message: [found.message, ...hints].join('\n'),
    relatedInformation: related.map((other) => ({
      location: {uri: document.uri, range: rangeOf(document, other)},
      message: other.message,
    })),
  }
}
