import {
  CodeActionKind,
  type Connection,
  createConnection,
  type InitializeResult,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver'
import {createProtocolConnection, StreamMessageReader, StreamMessageWriter} from 'vscode-languageserver/node'
import {TextDocument} from 'vscode-languageserver-textdocument'
import {completionsAt} from './completion/completions.js'
import {definitionAt} from './definition.js'
import {DiagnosticsPublisher} from './diagnostics.js'
import {formattingOf} from './formatting.js'
import {handshake} from './handshake.js'
import {hoverAt} from './hover.js'
import {Lifetime} from './lifetime.js'
import {outlineOf} from './outline.js'
import {Programs} from './programs.js'
import {quickFixes} from './quick-fixes.js'

export interface LanguageServerOptions {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** Stops the server when it aborts. */
  signal: AbortSignal
  /** Product version, sent to the editor. */
  version: string
}

/**
 * Runs the Language Server Protocol on two streams until the client sends `exit`, the input closes, the client process
 * ends, or the signal aborts. Resolves with the exit status required by the protocol: 1 for `exit` without `shutdown`.
 */
export function startLanguageServer({input, output, signal, version}: LanguageServerOptions): Promise<0 | 1> {
  const lifetime = new Lifetime(input, signal)
  // The connection of `vscode-languageserver/node` would exit the process; this one notifies `lifetime` instead.
  const [reader, writer] = [new StreamMessageReader(input), new StreamMessageWriter(output)]
  const connection = createConnection(
    (logger) => createProtocolConnection(reader, writer, logger, {messageStrategy: handshake(writer, lifetime)}),
    lifetime,
  )
  connection.onInitialize(() => describeServer(version))
  answer(connection)
  connection.listen()
  return lifetime.over
}

const describeServer = (version: string): InitializeResult => ({
  serverInfo: {name: 'svc', version},
  capabilities: {
    textDocumentSync: {openClose: true, change: TextDocumentSyncKind.Incremental},
    completionProvider: {triggerCharacters: ['.', '@']},
    hoverProvider: true,
    definitionProvider: true,
    documentSymbolProvider: true,
    documentFormattingProvider: true,
    codeActionProvider: {codeActionKinds: [CodeActionKind.QuickFix]},
  },
})

function answer(connection: Connection): void {
  const documents = new TextDocuments(TextDocument)
  const programs = new Programs()
  const publisher = new DiagnosticsPublisher(connection, programs)
  /** Requests about a document that is not open return null. */
  const about = <R>({uri}: {uri: string}, reply: (document: TextDocument) => R): R | null => {
    const document = documents.get(uri)
    return document === undefined ? null : reply(document)
  }

  documents.onDidChangeContent(({document}) => publisher.changed(document))
  documents.onDidClose(({document}) => publisher.closed(document))
  connection.onHover(({textDocument, position}) =>
    about(textDocument, (document) => hoverAt(document, position, programs.of(document))),
  )
  connection.onDefinition(({textDocument, position}) =>
    about(textDocument, (document) => definitionAt(document, position, programs.of(document))),
  )
  connection.onCompletion(({textDocument, position}) =>
    about(textDocument, (document) => completionsAt(document, position)),
  )
  connection.onDocumentSymbol(({textDocument}) =>
    about(textDocument, (document) => outlineOf(document, programs.of(document))),
  )
  connection.onDocumentFormatting(({textDocument}) => about(textDocument, formattingOf))
  connection.onCodeAction(({textDocument, range, context}) =>
    about(textDocument, (document) => quickFixes(document, range, context.only, programs.of(document))),
  )
  documents.listen(connection)
}
