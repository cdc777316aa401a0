import {type CompletionItem, MarkupKind, type Position} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import {endsInText, Tokens} from '../tokens.js'
import {placeAfter} from './place.js'
import {proposals} from './proposals.js'
import {programAround} from './unfinished.js'

/** The completions at a position in a document. */
export function completionsAt(document: TextDocument, position: Position): CompletionItem[] {
  const text = document.getText()
  const offset = document.offsetAt(position)
  const before = text.slice(0, offset)
  if (endsInText(before)) return []
  const begun = /(?:@[\w.]*|[A-Za-z_]\w*)$/.exec(before)?.[0] ?? ''
  const start = offset - begun.length
  const tokens = new Tokens(text.slice(0, start))
  const place = placeAfter(tokens, begun)
  const range = {start: document.positionAt(start), end: position}
  if (place.kind === 'nothing') return []
  // Object keys include their colon, unless it is already present.
  const colon = place.kind === 'key' && !/^\w*\s*:/.test(text.slice(offset, offset + 100)) ? ': ' : ''
  return proposals(place, programAround(text, offset, tokens), offset).map(({name, kind, detail, doc}, i) => ({
    label: name,
    kind,
    ...(detail === undefined ? {} : {detail}),
    ...(doc === undefined ? {} : {documentation: {kind: MarkupKind.Markdown, value: doc}}),
    // Sorted by proximity, then by declaration order.
    sortText: String(i).padStart(4, '0'),
    textEdit: {range, newText: `${name}${colon}`},
  }))
}
