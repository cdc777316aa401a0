import {type DocumentSymbol, SymbolKind} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import {type FunctionType, type Program, type Route, type Span, show, signature, type Type} from '../lang/index.js'
import {rangeOf} from './range.js'
import {Tokens} from './tokens.js'

/** A column, a field or a variant. */
interface Member {
  readonly name: string
  readonly type?: Type
  readonly span: Span
}

/** The declarations of a program in source order: tables, types, functions and routes. */
export function outlineOf(document: TextDocument, program: Program): DocumentSymbol[] {
  const types = new TypeOutline(document)
  const symbols = [
    ...program.tables.map((table) => types.symbol(table, SymbolKind.Class, 'table', table.columns)),
    ...program.records.map((record) => types.symbol(record, SymbolKind.Struct, 'type', record.fields)),
    ...program.sums.map((sum) => types.symbol(sum, SymbolKind.Enum, 'type', sum.variants)),
    ...program.functions.map((each) => functionSymbol(document, each, program.routes)),
  ]
  return symbols.sort((a, b) => document.offsetAt(a.selectionRange.start) - document.offsetAt(b.selectionRange.start))
}

function functionSymbol(document: TextDocument, made: FunctionType, routes: readonly Route[]): DocumentSymbol {
  const {name, decl, span} = made
  const route = routes.find((each) => each.function === made)
  const isTest = decl.kind === 'function' && decl.test
  return {
    name: decl.kind === 'http' && route !== undefined ? `${route.method} ${route.path}` : name,
    detail: isTest
      ? 'test'
      : decl.kind === 'http' || route === undefined
        ? signature(made)
        : `${route.method} ${route.path}`,
    kind: decl.kind === 'http' ? SymbolKind.Event : SymbolKind.Function,
    range: rangeOf(document, decl),
    selectionRange: rangeOf(document, span),
  }
}

class TypeOutline {
  readonly #document: TextDocument
  readonly #tokens: Tokens

  constructor(document: TextDocument) {
    this.#document = document
    this.#tokens = new Tokens(document.getText())
  }

  symbol({name, span}: Member, kind: SymbolKind, detail: string, members: readonly Member[]): DocumentSymbol {
    const end = this.#end(span, members)
    return {
      name,
      detail,
      kind,
      range: {start: {...this.#document.positionAt(span.start), character: 0}, end: this.#document.positionAt(end)},
      selectionRange: rangeOf(this.#document, span),
      children: members.map((member) => this.#member(member)),
    }
  }

  #member({name, type, span}: Member): DocumentSymbol {
    const range = rangeOf(this.#document, span)
    const kind = type === undefined ? SymbolKind.EnumMember : SymbolKind.Field
    return {name, ...(type === undefined ? {} : {detail: show(type)}), kind, range, selectionRange: range}
  }

  /** The end of the braces that follow a name, or of the last member. */
  #end({start, end}: Span, members: readonly Member[]): number {
    const braces = this.#behindBrackets(start)
    if (braces !== undefined) return braces
    const last = members.at(-1)
    return last === undefined ? end : (this.#behindBrackets(last.span.start) ?? last.span.end)
  }

  #behindBrackets(nameStart: number): number | undefined {
    const name = this.#tokens.startingAt(nameStart)
    const partner = this.#tokens.partner(name + 1)
    return name === -1 || partner === undefined ? undefined : this.#tokens.at(partner)?.end
  }
}
