import {CompletionItemKind} from 'vscode-languageserver'
import type {Program} from '../../lang/index.js'
import {inNamespace, typeNames, values, variables} from './name-proposals.js'
import type {Place} from './place.js'
import {type Proposal, proposed} from './proposal.js'
import {afterOperation, columns, keys, onTable, table, tableNamed} from './table-proposals.js'
import {bodyWords, declarationWords, decorators, operations} from './vocabulary.js'

const keyword = proposed(CompletionItemKind.Keyword)

/** The completion proposals at a place in a program, nearest first. */
export function proposals(place: Place, program: Program, offset: number): Proposal[] {
  switch (place.kind) {
    case 'nothing':
      return []
    case 'decorator':
      return decorators.map(keyword)
    case 'declaration':
      return [...declarationWords, ...decorators].map(keyword)
    case 'word':
      return place.words.map(keyword)
    case 'table':
      return program.tables.map(table)
    case 'type':
      return typeNames(program)
    case 'operation':
      return onTable(tableNamed(program, place.table))
    case 'modifier':
      return afterOperation(
        operations.find(({name}) => name === place.operation),
        place.used,
      )
    case 'column':
      return columns(tableNamed(program, place.table), {withId: true})
    case 'key':
      return keys(place.literal, program).filter(({name}) => !place.used.has(name))
    case 'namespace':
      return inNamespace(place.path)
    case 'expression':
      return [...variables(program, offset), ...values(program), ...bodyWords.map(keyword)]
  }
}
