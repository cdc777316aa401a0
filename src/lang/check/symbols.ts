import type {Span} from '../diagnostics/index.js'

/** What a name in the source means: for editors. */
export interface SourceSymbol extends Span {
  /** Where it is declared; undefined for what the language brings along. */
  target: Span | undefined
  /** Its declaration, in a line. */
  label: () => string
  doc: string | undefined
}

/** Remembers the meaning of names. There is one only where somebody asks for it. */
export class Symbols {
  readonly all: SourceSymbol[] = []

  define(span: Span, label: () => string, doc?: string): void {
    this.use(span, span, label, doc)
  }

  use({start, end}: Span, target: Span | undefined, label: () => string, doc?: string): void {
    this.all.push({start, end, target, label, doc})
  }
}
