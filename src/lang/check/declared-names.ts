import {Diagnostics} from '../diagnostics/index.js'
import {type Decl, parse} from '../syntax/index.js'

/**
 * The names that a source declares, without duplicates: tables, types, endpoints and functions, then columns, fields and
 * variants. Syntax errors are ignored.
 */
export function declaredNames(source: string): string[] {
  const {decls} = parse(source, new Diagnostics()).module
  return [...new Set([...decls.flatMap(nameOf), ...decls.flatMap(memberNames)])]
}

const nameOf = (decl: Decl): string[] =>
  decl.kind === 'http' || decl.kind === 'index' || (decl.kind === 'function' && decl.test) ? [] : [decl.name.text]

function memberNames(decl: Decl): string[] {
  if (decl.kind === 'table' || decl.kind === 'record') return decl.fields.map(({name}) => name.text)
  return decl.kind === 'sum' ? decl.variants.map(({name}) => name.text) : []
}
