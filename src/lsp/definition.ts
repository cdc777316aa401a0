import type {Location, Position} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import type {Program} from '../lang/index.js'
import {rangeOf} from './range.js'
import {symbolAt} from './symbol-at.js'

/** The declaration of the name at a position; null for built-ins. */
export function definitionAt(document: TextDocument, position: Position, program: Program): Location | null {
  const target = symbolAt(document, position, program)?.target
  return target === undefined ? null : {uri: document.uri, range: rangeOf(document, target)}
}
