import {type Hover, MarkupKind, type Position} from 'vscode-languageserver'
import type {TextDocument} from 'vscode-languageserver-textdocument'
import {type FieldType, type Program, type SourceSymbol, show, type VariantType} from '../lang/index.js'
import {rangeOf} from './range.js'
import {symbolAt} from './symbol-at.js'

/** The declaration and documentation of the name at a position. */
export function hoverAt(document: TextDocument, position: Position, program: Program): Hover | null {
  const symbol = symbolAt(document, position, program)
  if (symbol === undefined) return null
  const declaration = `\`\`\`svc\n${symbol.label()}${contentOf(symbol, program)}\n\`\`\``
  const value = symbol.doc === undefined ? declaration : `${declaration}\n\n${symbol.doc}`
  return {contents: {kind: MarkupKind.Markdown, value}, range: rangeOf(document, symbol)}
}

/** The contents of a type, appended to its name; empty for other names. */
function contentOf({target}: SourceSymbol, {tables, records, sums}: Program): string {
  const isMeant = ({span}: {span: {start: number}}) => span.start === target?.start
  const fields = tables.find(isMeant)?.columns ?? records.find(isMeant)?.fields
  if (fields !== undefined) return ` {${fields.map((field) => `\n    ${asField(field)}`).join('')}\n}`
  const sum = sums.find(isMeant)
  return sum === undefined ? '' : ` =${sum.variants.map((variant) => `\n    | ${asVariant(variant)}`).join('')}`
}

const asField = ({name, type}: Pick<FieldType, 'name' | 'type'>) => `${name}: ${show(type)}`
const asVariant = ({name, fields}: VariantType) =>
  fields.length === 0 ? name : `${name}(${fields.map(asField).join(', ')})`
