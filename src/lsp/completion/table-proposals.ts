import {CompletionItemKind} from 'vscode-languageserver'
import {
  builtinMethods,
  type Column,
  type FieldType,
  type Program,
  show,
  type Table,
  uniqueIndexes,
} from '../../lang/index.js'
import type {Literal} from './literal.js'
import {type Proposal, proposed} from './proposal.js'
import {connectives, modifiers, type Operation, operations, predicates, results, shaping} from './vocabulary.js'

const method = proposed(CompletionItemKind.Method)
const field = proposed(CompletionItemKind.Field)

export const tableNamed = (program: Program, name: string): Table | undefined =>
  program.tables.find((each) => each.name === name)

export const table = ({name, doc}: Table): Proposal =>
  proposed(CompletionItemKind.Class)({name, detail: '@table type', ...(doc === undefined ? {} : {doc})})

const typed = ({name, type}: FieldType | Column): Proposal => field({name, detail: show(type)})

export const columns = (of: Table | undefined, {withId}: {withId: boolean}): Proposal[] =>
  of === undefined ? [] : [...of.columns, ...(withId ? [of.id] : [])].map(typed)

/** The operations on a table. */
export function onTable(of: Table | undefined): Proposal[] {
  if (of === undefined) return []
  const hasKey = uniqueIndexes(of).length > 0
  return operations.filter(({name}) => name !== 'upsert' || hasKey).map(method)
}

/** The modifiers that can still follow an operation, and the methods of its result. */
export function afterOperation(operation: Operation | undefined, used: readonly string[]): Proposal[] {
  if (operation === undefined) return []
  const counts = results.has(operation.name) || used.some((name) => results.has(name))
  const allowed = modifiers.filter(({name, hint, repeats = false}) => {
    if (operation.modifiers === 'none' || (used.includes(name) && !repeats)) return false
    if (hint) return true
    if (operation.modifiers === 'hints' || counts) return false
    return !results.has(name) || ![operation.name, ...used].some((other) => shaping.has(other))
  })
  const methods = operation.returns === undefined || counts ? {} : builtinMethods[operation.returns]
  const taken = new Set(modifiers.map(({name}) => name))
  const others = Object.keys(methods).filter((name) => !taken.has(name))
  return [...allowed, ...others.map((name) => ({name}))].map(method)
}

export function keys(literal: Literal, program: Program): Proposal[] {
  switch (literal.of) {
    case 'row':
      return columns(tableNamed(program, literal.table), {withId: false})
    case 'predicate': {
      const known = columns(tableNamed(program, literal.table), {withId: true})
      return literal.nests ? [...known, ...connectives.map(proposed(CompletionItemKind.Keyword))] : known
    }
    case 'column':
      return [...membersAt(literal, program).map(typed), ...predicates.map(proposed(CompletionItemKind.Operator))]
    case 'type':
      return fieldsOf(literal.name, program).map(typed)
  }
}

/** What conditions below a column can name: the fields of a record, or the columns of the row that an id refers to. */
function membersAt({table: name, path}: Literal & {of: 'column'}, program: Program): readonly (FieldType | Column)[] {
  let members: readonly (FieldType | Column)[] = tableNamed(program, name)?.columns ?? []
  for (const step of path) {
    const found = members.find((member) => member.name === step)?.type
    const type = found?.kind === 'option' ? found.of : found
    members = type?.kind === 'record' ? type.record.fields : type?.kind === 'id' ? type.table.columns : []
  }
  return members
}

/** The fields of a record, a variant or a table. */
function fieldsOf(name: string, program: Program): readonly (FieldType | Column)[] {
  const {records, variants} = program.declarations
  return (
    records.get(name)?.fields ?? variants.get(name)?.[0]?.variant.fields ?? tableNamed(program, name)?.columns ?? []
  )
}
