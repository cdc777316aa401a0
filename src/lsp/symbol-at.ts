import type {Position} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import type {Program, SourceSymbol} from '../lang/index.js'

/** The symbol at or immediately before a position, if there is one. */
export function symbolAt(document: TextDocument, position: Position, {symbols}: Program): SourceSymbol | undefined {
  const offset = document.offsetAt(position)
  // If an expression is checked twice, the later symbol is more precise.
  return symbols.findLast(({start, end}) => start <= offset && offset <= end)
}
