import type {Range} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import type {Span} from '../lang/index.js'

/** Converts a span to a protocol range: lines and UTF-16 code units, from 0. */
export const rangeOf = (document: TextDocument, {start, end}: Span): Range => ({
  start: document.positionAt(start),
  end: document.positionAt(end),
})
