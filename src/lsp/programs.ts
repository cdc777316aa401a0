import type {TextDocument} from 'vscode-languageserver-textdocument'
import {checkProgram, type Program} from '../lang/index.js'

/** The programs in the open documents; each document version is checked once. */
export class Programs {
  readonly #checked = new WeakMap<TextDocument, {version: number; program: Program}>()

  of(document: TextDocument): Program {
    const {version} = document
    const known = this.#checked.get(document)
    if (known?.version === version) return known.program
    const program = checkProgram(document.getText(), {symbols: true})
    this.#checked.set(document, {version, program})
    return program
  }
}
