import type {TextEdit} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import {formatSource} from '../lang/index.js'
import {rangeOf} from './range.js'

/**
 * The edit that formats a document; empty if it is already formatted, null if it does not parse. Text that is
 * equal at both ends is not replaced, so that the editor preserves the cursor position.
 */
export function formattingOf(document: TextDocument): TextEdit[] | null {
  const before = document.getText()
  const formatted = formatSource(before)
  if (formatted === undefined) return null
  const after = before.includes('\r\n') ? formatted.replace(/\r?\n/g, '\r\n') : formatted
  if (after === before) return []
  const shorter = Math.min(before.length, after.length)
  let same = 0
  while (same < shorter && before[same] === after[same]) same++
  let sameEnd = 0
  while (sameEnd < shorter - same && before.at(-1 - sameEnd) === after.at(-1 - sameEnd)) sameEnd++
  const range = rangeOf(document, {start: same, end: before.length - sameEnd})
  return [{range, newText: after.slice(same, after.length - sameEnd)}]
}
