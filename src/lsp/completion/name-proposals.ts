import {CompletionItemKind} from 'vscode-languageserver'
import {builtinFunctions, builtinNamespaced, type Program, show, signature} from '../../lang/index.js'
import {type Proposal, proposed} from './proposal.js'
import {table} from './table-proposals.js'
import {builtinVariants, types, type Word} from './vocabulary.js'

/** The names of types, first those of the program. */
export function typeNames(program: Program): Proposal[] {
  return [
    ...program.tables.map(table),
    ...program.records.map(({name}) => proposed(CompletionItemKind.Struct)({name, detail: 'type'})),
    ...program.sums.map(({name}) => proposed(CompletionItemKind.Enum)({name, detail: 'type'})),
    ...types.map(proposed(CompletionItemKind.Keyword)),
  ]
}

/** Names that can start an expression: functions, variants, records and namespaces. */
export function values({declarations, sums, records}: Program): Proposal[] {
  return [
    proposed(CompletionItemKind.Module)({name: 'db', detail: 'the tables of the program'}),
    ...[...declarations.functions.values()].map((each) =>
      proposed(CompletionItemKind.Function)({
        name: each.name,
        detail: signature(each),
        ...(each.decl.kind === 'http' || each.decl.doc === undefined ? {} : {doc: each.decl.doc}),
      }),
    ),
    ...[...declarations.constants.values()].flatMap(({decl, value}) =>
      value === undefined
        ? []
        : [proposed(CompletionItemKind.Constant)({name: decl.name.text, detail: `const: ${show(value.type)}`})],
    ),
    ...sums.flatMap(({name: sum, variants}) =>
      variants.map(({name}) => proposed(CompletionItemKind.EnumMember)({name, detail: `${sum}.${name}`})),
    ),
    ...records.map(({name}) => proposed(CompletionItemKind.Struct)({name, detail: 'type'})),
    ...builtinVariants.map(proposed(CompletionItemKind.EnumMember)),
    ...Object.entries(builtinFunctions).map(([name, builtin]) =>
      proposed(CompletionItemKind.Function)({name, detail: builtinSignature(builtin)}),
    ),
    ...inNamespace('').filter(({name}) => !Object.hasOwn(builtinFunctions, name)),
  ]
}

/** The names that can follow a partial namespaced name such as `std.time.`. */
export function inNamespace(path: string): Proposal[] {
  const found = new Map<string, Proposal>()
  for (const [whole, builtin] of Object.entries(builtinNamespaced)) {
    if (!whole.startsWith(path)) continue
    const [name = '', ...rest] = whole.slice(path.length).split('.')
    if (rest.length > 0) found.set(name, proposed(CompletionItemKind.Module)({name}))
    else found.set(name, proposed(CompletionItemKind.Function)({name, detail: builtinSignature(builtin)}))
  }
  return [...found.values()]
}

/** The signature of a built-in function; the result is omitted if it depends on the arguments. */
const builtinSignature = ({params, result}: (typeof builtinFunctions)[string]) =>
  `(${params.map((param) => show(param)).join(', ')})${typeof result === 'function' ? '' : ` to ${show(result)}`}`

/** The parameters of the enclosing function and the variables declared before the offset, nearest first. */
export function variables({source, functions, symbols}: Program, offset: number): Proposal[] {
  const around = functions.findLast(({decl}) => decl.start <= offset)
  if (around === undefined) return []
  const {decl, params, span} = around
  const declared = symbols.filter(
    ({start, end, target}) => start > decl.start && start !== span.start && end < offset && target?.start === start,
  )
  const words: readonly Word[] = [
    // A route has more parameters than those it declares.
    ...params.map(({name, type}) => ({name, detail: `${name}: ${show(type)}`})),
    ...declared.map(({start, end, label}) => ({name: source.slice(start, end), detail: label()})),
  ]
  // If a name is declared twice, the later declaration is used.
  return [...new Map(words.map((word) => [word.name, word])).values()]
    .reverse()
    .map(proposed(CompletionItemKind.Variable))
}
