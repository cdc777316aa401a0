import {type CodeAction, CodeActionKind, type Range} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import type {Program} from '../lang/index.js'
import {asDiagnostic} from './diagnostics.js'
import {rangeOf} from './range.js'

/** The fixes of diagnostics in a range, as edits; empty if the editor requests only other kinds of actions. */
export function quickFixes(
  document: TextDocument,
  range: Range,
  only: readonly string[] | undefined,
  {diagnostics}: Program,
): CodeAction[] {
  if (only?.every((kind) => !includes(kind, CodeActionKind.QuickFix))) return []
  const start = document.offsetAt(range.start)
  const end = document.offsetAt(range.end)
  return diagnostics
    .filter((found) => found.start <= end && found.end >= start)
    .flatMap((found) =>
      (found.fixes ?? []).map((fix, _, fixes) => ({
        title: fix.label,
        kind: CodeActionKind.QuickFix,
        diagnostics: [asDiagnostic(document, found)],
        isPreferred: fixes.length === 1,
        edit: {changes: {[document.uri]: [{range: rangeOf(document, fix), newText: fix.replacement}]}},
      })),
    )
}

/** Kinds are hierarchical: `quickfix` includes `quickfix.spelling`, and the empty kind includes all kinds. */
const includes = (kind: string, other: string) => kind === '' || kind === other || other.startsWith(`${kind}.`)
