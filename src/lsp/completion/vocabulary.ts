import type {MethodFamily} from '../../lang/index.js'

/** A word of the language, with its description in an editor. */
export interface Word {
  readonly name: string
  readonly detail?: string
  readonly doc?: string
}

const named = (names: string): Word[] => names.split(/\s+/).map((name) => ({name}))

/** An operation on a table. */
export interface Operation extends Word {
  /** The modifiers that can follow. */
  readonly modifiers: 'all' | 'hints' | 'none'
  /** The method family of the result. */
  readonly returns?: MethodFamily
}

export const operations: readonly Operation[] = [
  {
    name: 'insert',
    detail: '(row) to Id[T]',
    doc: 'Insert a row. Columns of type Option are optional.',
    modifiers: 'none',
  },
  {
    name: 'upsert',
    detail: '(row, {column: value}, index) to Id[T]',
    doc: 'Insert a row, or change the one with the same key of a unique index.',
    modifiers: 'none',
  },
  {
    name: 'get',
    detail: '(id) to Option[T]',
    doc: 'Return the row with this _id.',
    modifiers: 'hints',
    returns: 'option',
  },
  {
    name: 'find',
    detail: '(id) to Option[T]',
    doc: 'Return the row with this _id; same as get.',
    modifiers: 'hints',
    returns: 'option',
  },
  {
    name: 'all',
    detail: '() to List[T]',
    doc: 'Return all rows.',
    modifiers: 'all',
    returns: 'list',
  },
  {
    name: 'filter',
    detail: '({column: value}) to List[T]',
    doc: 'Return the rows whose columns equal the values.',
    modifiers: 'all',
    returns: 'list',
  },
  {
    name: 'where',
    detail: '({column: {operator: value}}) to List[T]',
    doc: 'Return the rows that match the conditions, combined with and, or, not.',
    modifiers: 'all',
    returns: 'list',
  },
  {name: 'count', detail: '() to int', doc: 'Return the number of rows.', modifiers: 'hints'},
  {name: 'exists', detail: '() to bool', doc: 'Return whether there is a row.', modifiers: 'hints'},
  {
    name: 'order_by',
    detail: '(column, asc | desc) to List[T]',
    doc: 'Return all rows, sorted.',
    modifiers: 'all',
    returns: 'list',
  },
  {
    name: 'update',
    detail: '(id, {column: value}) to bool',
    doc: 'Update columns of a row. False if the row does not exist.',
    modifiers: 'none',
  },
  {
    name: 'delete',
    detail: '(id) to bool',
    doc: 'Delete a row. False if the row does not exist.',
    modifiers: 'none',
  },
]

/** A modifier of a read operation. */
export interface Modifier extends Word {
  /** True if it changes neither the statement nor the rows; it can then follow every read operation. */
  readonly hint: boolean
  readonly repeats?: boolean
}

export const modifiers: readonly Modifier[] = [
  {name: 'order_by', detail: '(column, asc | desc)', doc: 'Sort the rows.', hint: false, repeats: true},
  {name: 'limit', detail: '(n)', doc: 'Maximum number of rows.', hint: false},
  {name: 'offset', detail: '(n)', doc: 'Number of rows to skip.', hint: false},
  {name: 'select', detail: '(column, …)', doc: 'Read only these columns and _id.', hint: false},
  {name: 'count', detail: '() to int', doc: 'Return the number of rows instead of the rows.', hint: false},
  {name: 'exists', detail: '() to bool', doc: 'Return whether there is a row.', hint: false},
  {name: 'update', detail: '({column: value}) to int', doc: 'Update the rows; returns their number.', hint: false},
  {name: 'delete', detail: '() to int', doc: 'Delete the rows; returns their number.', hint: false},
  {name: 'sum', detail: '(column)', doc: 'Return the sum of a column.', hint: false},
  {name: 'avg', detail: '(column)', doc: 'Return the mean of a column, as an Option.', hint: false},
  {name: 'min', detail: '(column)', doc: 'Return the least value of a column, as an Option.', hint: false},
  {name: 'max', detail: '(column)', doc: 'Return the greatest value of a column, as an Option.', hint: false},
  {name: 'distinct', detail: '(column, …)', doc: 'Return the different values of columns.', hint: false},
  {name: 'group_by', detail: '(column, …)', doc: 'Group the rows, for aggregate.', hint: false},
  {name: 'aggregate', detail: '({name: sum(column)})', doc: 'Return totals of all rows or of each group.', hint: false},
  {name: 'include', detail: '({name: Table.column})', doc: 'Read related rows with each row.', hint: false},
  {name: 'page', detail: '(size, after) to Page[T]', doc: 'Read a page, and the cursor of the next one.', hint: false},
  {name: 'sync', detail: '()', doc: 'Synchronise a replica before reading.', hint: true},
  {name: 'using', detail: '(fts | vector | hybrid)', doc: 'Retrieval mode.', hint: true},
  {name: 'live', detail: '(topic)', doc: 'Publish changes to the topic.', hint: true},
  {name: 'scope', detail: '(name)', doc: 'Orchestration scope of the operation.', hint: true},
]

/** Modifiers that return a single result in place of the rows. */
export const results: ReadonlySet<string> = new Set([
  ...['count', 'exists', 'update', 'delete', 'sum', 'avg', 'min', 'max', 'distinct', 'group_by', 'aggregate'],
])
/** Modifiers that cannot be combined with these. */
export const shaping: ReadonlySet<string> = new Set(['order_by', 'limit', 'offset', 'select', 'include', 'page'])

/** The words that a modifier accepts, if they are fixed. */
export const modifierWords: Readonly<Record<string, readonly Word[]>> = {
  order_by: named('asc desc'),
  using: named('fts vector hybrid'),
}

export const predicates: readonly Word[] = [
  {name: 'eq', doc: 'Equal.'},
  {name: 'neq', doc: 'Not equal.'},
  {name: 'lt', doc: 'Less than.'},
  {name: 'lte', doc: 'Less than or equal.'},
  {name: 'gt', doc: 'Greater than.'},
  {name: 'gte', doc: 'Greater than or equal.'},
  {name: 'between', detail: '[least, greatest]', doc: 'Is between two values, or equal to one.'},
  {name: 'in', doc: 'Is in a list.'},
  {name: 'contains', doc: 'Contains a substring or an item.'},
  {name: 'starts_with', doc: 'Starts with a prefix.'},
  {name: 'is_null', doc: 'Is None.'},
  {name: 'matches', doc: 'Contains all words of a text.'},
  {name: 'near', doc: 'Rank by distance to a vector.'},
]

/** Words that combine conditions of `where`. */
export const connectives: readonly Word[] = [
  {name: 'and', detail: '[{…}, …]', doc: 'All conditions.'},
  {name: 'or', detail: '[{…}, …]', doc: 'At least one condition.'},
  {name: 'not', detail: '{…}', doc: 'Negates the conditions.'},
]

export const decorators: readonly Word[] = [
  {name: '@table', detail: 'type Name {…}', doc: 'A stored type, with one column per field.'},
  {
    name: '@index',
    detail: 'Table.name on (column, …)',
    doc: 'An index on columns; append unique to forbid duplicates.',
  },
  {name: '@search_index', detail: 'Table.name on (column, …)', doc: 'A full-text index on str columns.'},
  {name: '@vector_index', detail: 'Table.name on (column) { dimensions: n }', doc: 'A vector index, for near.'},
  {name: '@endpoint', detail: '(kind: query | mutation | server)', doc: 'A function exposed over HTTP.'},
  {name: '@test', detail: 'fn name() {…}', doc: 'A test of the program.'},
]

/** What can follow the type of a column. */
export const columnParts: readonly Word[] = [
  {name: 'unique', doc: 'No two rows have the same value.'},
  {name: 'check', detail: '(condition)', doc: 'A condition that each row meets.'},
  {name: 'on', detail: 'delete restrict | cascade | set_null', doc: 'What happens if the referenced row is deleted.'},
  {name: 'was', detail: 'name', doc: 'The earlier name, which a migration replaces.'},
  {name: '@created_at', doc: 'The store sets it when the row is inserted.'},
  {name: '@updated_at', doc: 'The store sets it whenever the row changes.'},
]

export const deleteActions: readonly Word[] = [
  {name: 'restrict', doc: 'The referenced row cannot be deleted.'},
  {name: 'cascade', doc: 'This row is deleted, too.'},
  {name: 'set_null', doc: 'This column becomes None.'},
]

export const partialIndex: Word = {
  name: 'where',
  detail: '(condition)',
  doc: 'Only rows that meet a condition are in the index.',
}

/** Keywords that follow a decorator. */
export const afterDecorator: Readonly<Record<string, readonly Word[]>> = {
  '@table': named('type'),
  '@test': named('fn'),
}

export const indexDecorators: ReadonlySet<string> = new Set(['@index', '@search_index', '@vector_index'])

export const types: readonly Word[] = [
  {name: 'int', doc: 'An integer.'},
  {name: 'float', doc: 'A floating-point number.'},
  {name: 'bool'},
  {name: 'str', doc: 'A string.'},
  {name: 'dec', doc: 'A decimal number of arbitrary precision.'},
  {name: 'bytes'},
  {name: 'Date', doc: 'A day.'},
  {name: 'DateTime', doc: 'A time in UTC, with milliseconds.'},
  {name: 'Duration', doc: 'A length of time, with milliseconds.'},
  {name: 'Unit', doc: 'The result of a function without a value.'},
  {name: 'Json', doc: 'Any JSON value.'},
  {name: 'Id', detail: '[Table]', doc: 'The _id of a row.'},
  {name: 'Option', detail: '[T]', doc: 'A value or None.'},
  {name: 'List', detail: '[T]'},
  {name: 'Set', detail: '[T]'},
  {name: 'Map', detail: '[str, T]'},
  {name: 'Page', detail: '[T]', doc: 'Some of many items, and the cursor of the next ones.'},
  {name: 'Result', detail: '[T, E = str]', doc: 'Ok with a value, or Error.'},
]

export const declarationWords: readonly Word[] = named('fn type const http pub')
export const httpMethods: readonly Word[] = named('get post put delete')
export const endpointKinds: readonly Word[] = [
  {name: 'query', doc: 'Read-only; handles GET.'},
  {name: 'mutation', doc: 'Writes in one transaction; handles POST.'},
  {name: 'server', doc: 'Handles POST; each operation commits immediately.'},
]

/** Words that start or combine statements and expressions. */
export const bodyWords: readonly Word[] = named(
  'let mut return if else match for in while loop break continue fn and or not is isnt true false',
)

/** Built-in variants. */
export const builtinVariants: readonly Word[] = [
  {name: 'Some', detail: '(value)'},
  {name: 'None'},
  {name: 'Ok', detail: '(value)'},
  {name: 'Error', detail: '(error)'},
]
