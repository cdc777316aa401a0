import type {Span} from '../diagnostics/index.js'

/** The meaning of a name in the source, for editors. */
export interface SourceSymbol extends Span {
  /** The declaration; undefined for built-ins. */
  target: Span | undefined
  /** The declaration on one line. */
  label: () => string
  doc: string | undefined
}

/** Records the meaning of names, if the caller requests it. */
export class Symbols {
  readonly all: SourceSymbol[] = []

  define(span: Span, label: () => string, doc?: string): void {
    this.use(span, span, label, doc)
  }

  use({start, end}: Span, target: Span | undefined, label: () => string, doc?: string): void {
    this.all.push({start, end, target, label, doc})
  }
}
