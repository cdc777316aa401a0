import type {Position} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import type {Program, SourceSymbol} from '../lang/index.js'

/** The name that a place is in or right behind, where it means something. */
export function symbolAt(document: TextDocument, position: Position, {symbols}: Program): SourceSymbol | undefined {
  const offset = document.offsetAt(position)
  // A place that is checked twice is understood better the second time.
  return symbols.findLast(({start, end}) => start <= offset && offset <= end)
}
