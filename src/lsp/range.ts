import type {Range} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import type {Span} from '../lang/index.js'

/** Where a stretch of the source is, as the protocol counts: lines and UTF-16 units from 0. */
export const rangeOf = (document: TextDocument, {start, end}: Span): Range => ({
  start: document.positionAt(start),
  end: document.positionAt(end),
})
