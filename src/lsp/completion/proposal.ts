import type {CompletionItemKind} from 'vscode-languageserver'
import type {Word} from './vocabulary.js'

/** A completion proposal. */
export interface Proposal extends Word {
  readonly kind: CompletionItemKind
}

/** Creates proposals of a kind. */
export const proposed =
  (kind: CompletionItemKind) =>
  ({name, detail, doc}: Word): Proposal => ({
    name,
    kind,
    ...(detail === undefined ? {} : {detail}),
    ...(doc === undefined ? {} : {doc}),
  })
