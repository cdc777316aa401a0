import {type Connection, type Diagnostic, DiagnosticSeverity} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import type {Diagnostic as Found} from '../lang/index.js'
import {logger} from '../log/index.js'
import type {Programs} from './programs.js'
import {rangeOf} from './range.js'

/** Delay between the last change of a document and its check, so that typing does not trigger checks, ms. */
const quietMs = 100

/** Publishes the diagnostics of open documents to the editor. */
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

  /** Clears the diagnostics of a closed document. */
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
    // Sending fails only if the client has ended, which stops the server anyway.
    this.#connection.sendDiagnostics(params).catch(() => {})
  }
}

const severities = {error: DiagnosticSeverity.Error, warning: DiagnosticSeverity.Warning} as const

/** Converts a diagnostic to its protocol form. */
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
