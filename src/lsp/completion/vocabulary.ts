import type {MethodFamily} from '../../lang/index.js'

/** A word of the language, with what an editor says about it. */
export interface Word {
  readonly name: string
  readonly detail?: string
  readonly doc?: string
}

const named = (names: string): Word[] => names.split(/\s+/).map((name) => ({name}))

/** What may be called on a table. */
export interface Operation extends Word {
  /** Which modifiers may follow. */
  readonly modifiers: 'all' | 'hints' | 'none'
  /** Whose methods the value has. */
  readonly gives?: MethodFamily
}

export const operations: readonly Operation[] = [
  {
    name: 'insert',
    detail: '(row) to Id[T]',
    doc: 'Adds a row. Columns of type Option may be left out.',
    modifiers: 'none',
  },
  {
    name: 'get',
    detail: '(id) to Option[T]',
    doc: 'The row with an _id.',
    modifiers: 'hints',
    gives: 'option',
  },
  {
    name: 'find',
    detail: '(id) to Option[T]',
    doc: 'The row with an _id, as get.',
    modifiers: 'hints',
    gives: 'option',
  },
  {
    name: 'all',
    detail: '() to List[T]',
    doc: 'Every row.',
    modifiers: 'all',
    gives: 'list',
  },
  {
    name: 'filter',
    detail: '({column: value}) to List[T]',
    doc: 'The rows whose columns have the given values.',
    modifiers: 'all',
    gives: 'list',
  },
  {
    name: 'where',
    detail: '({column: {operator: value}}) to List[T]',
    doc: 'The rows that meet conditions, joined by and, or, not.',
    modifiers: 'all',
    gives: 'list',
  },
  {name: 'count', detail: '() to int', doc: 'How many rows there are.', modifiers: 'hints'},
  {
    name: 'update',
    detail: '(id, {column: value}) to bool',
    doc: 'Sets columns of a row. False where there is none.',
    modifiers: 'none',
  },
  {
    name: 'delete',
    detail: '(id) to bool',
    doc: 'Removes a row. False where there is none.',
    modifiers: 'none',
  },
]

/** What may follow an operation that reads. */
export interface Modifier extends Word {
  /** It changes neither the statement nor the rows, and may follow every reading operation. */
  readonly hint: boolean
  readonly repeats?: boolean
}

export const modifiers: readonly Modifier[] = [
  {name: 'order_by', detail: '(column, asc | desc)', doc: 'Sorts the rows.', hint: false, repeats: true},
  {name: 'limit', detail: '(n)', doc: 'At most so many rows.', hint: false},
  {name: 'select', detail: '(column, …)', doc: 'Reads these columns only, and _id.', hint: false},
  {name: 'count', detail: '() to int', doc: 'How many rows there are, in place of the rows.', hint: false},
  {name: 'sync', detail: '()', doc: 'Brings a replica up to date before it is read.', hint: true},
  {name: 'using', detail: '(fts | vector | hybrid)', doc: 'How rows are retrieved.', hint: true},
  {name: 'live', detail: '(topic)', doc: 'Tells the topic about changes.', hint: true},
  {name: 'scope', detail: '(name)', doc: 'Where the operation is orchestrated.', hint: true},
]

/** What the count of the rows has no use for. */
export const shaping: ReadonlySet<string> = new Set(['order_by', 'limit', 'select'])

/** What a modifier takes, where it is one of a few words. */
export const modifierWords: Readonly<Record<string, readonly Word[]>> = {
  order_by: named('asc desc'),
  using: named('fts vector hybrid'),
}

export const predicates: readonly Word[] = [
  {name: 'eq', doc: 'Equal.'},
  {name: 'neq', doc: 'Not equal.'},
  {name: 'lt', doc: 'Less.'},
  {name: 'lte', doc: 'Less or equal.'},
  {name: 'gt', doc: 'Greater.'},
  {name: 'gte', doc: 'Greater or equal.'},
  {name: 'in', doc: 'One of a list.'},
  {name: 'contains', doc: 'Has a text in it, or an item.'},
  {name: 'is_null', doc: 'Whether it is None.'},
  {name: 'matches', doc: 'Has all words of a text in it.'},
  {name: 'near', doc: 'Nearest to a vector first.'},
]

/** What joins conditions of `where`. */
export const connectives: readonly Word[] = [
  {name: 'and', detail: '[{…}, …]', doc: 'All of them.'},
  {name: 'or', detail: '[{…}, …]', doc: 'One of them.'},
  {name: 'not', detail: '{…}', doc: 'Not these.'},
]

export const decorators: readonly Word[] = [
  {name: '@table', detail: 'type Name {…}', doc: 'A type whose values are stored, with a column for each field.'},
  {
    name: '@index',
    detail: 'Table.name on (column, …)',
    doc: 'An index of columns; unique behind it allows no value twice.',
  },
  {name: '@search_index', detail: 'Table.name on (column, …)', doc: 'An index of the words in str columns.'},
  {name: '@vector_index', detail: 'Table.name on (column) { dimensions: n }', doc: 'An index of vectors, for near.'},
  {name: '@endpoint', detail: '(kind: query | mutation | server)', doc: 'A function that answers HTTP.'},
  {name: '@test', detail: 'fn name() {…}', doc: 'A function that checks the program.'},
]

/** What stands behind a decorator. */
export const afterDecorator: Readonly<Record<string, readonly Word[]>> = {
  '@table': named('type'),
  '@test': named('fn'),
}

export const indexDecorators: ReadonlySet<string> = new Set(['@index', '@search_index', '@vector_index'])

export const types: readonly Word[] = [
  {name: 'int', doc: 'A whole number.'},
  {name: 'float', doc: 'A number.'},
  {name: 'bool'},
  {name: 'str', doc: 'A text.'},
  {name: 'dec', doc: 'A decimal number of any precision.'},
  {name: 'bytes'},
  {name: 'Unit', doc: 'Of what gives nothing.'},
  {name: 'Json', doc: 'Any JSON value.'},
  {name: 'Id', detail: '[Table]', doc: 'The _id of a row.'},
  {name: 'Option', detail: '[T]', doc: 'A value or None.'},
  {name: 'List', detail: '[T]'},
  {name: 'Set', detail: '[T]'},
  {name: 'Map', detail: '[str, T]'},
  {name: 'Result', detail: '[T, E = str]', doc: 'Ok with a value or Error.'},
]

export const declarationWords: readonly Word[] = named('fn type http pub')
export const httpMethods: readonly Word[] = named('get post put delete')
export const endpointKinds: readonly Word[] = [
  {name: 'query', doc: 'Reads; answers GET.'},
  {name: 'mutation', doc: 'Writes in one transaction; answers POST.'},
  {name: 'server', doc: 'Answers POST; each operation is saved at once.'},
]

/** Words that begin or join statements and expressions. */
export const bodyWords: readonly Word[] = named(
  'let mut return if else match for in while loop break continue fn and or not is isnt true false',
)

/** Values and their makers that every program has. */
export const builtinVariants: readonly Word[] = [
  {name: 'Some', detail: '(value)'},
  {name: 'None'},
  {name: 'Ok', detail: '(value)'},
  {name: 'Error', detail: '(error)'},
]
