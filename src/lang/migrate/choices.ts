import {SvcError} from '../../errors/index.js'
import {type Column, type Program, show, type Table} from '../check/index.js'
import {parseJsonText, TypeMismatch} from '../run/index.js'
import type {Step} from './diff.js'
import {literalOf} from './literal.js'

/** The user's decisions, as given on the command line. */
export interface Decisions {
  /** `Table.column=json` */
  defaults: readonly string[]
  /** `Table`, `table` or `Table.column` */
  drops: readonly string[]
  /** `Table` */
  rebuilds: readonly string[]
  /** `Table.column=expression` */
  usings: readonly string[]
}

/** Parsed decisions. */
export interface Choices {
  /** SQL literals by `table.column`. */
  defaults: ReadonlyMap<string, string>
  /** `table` or `table.column`, in SQL names. */
  drops: ReadonlySet<string>
  rebuilds: ReadonlySet<string>
  /** Expressions of the language by `table.column`. */
  usings: ReadonlyMap<string, string>
}

export const noDecisions: Decisions = {defaults: [], drops: [], rebuilds: [], usings: []}

/** @throws migration_choice if a decision names an unknown table or column, or applies to no step */
export function readChoices(program: Program, steps: readonly Step[], decisions: Decisions): Choices {
  const tableOf = (flag: string, value: string, name: string): Table => {
    const found = program.tables.find((table) => table.name === name || table.sqlName === name)
    if (found === undefined)
      throw new SvcError('migration_choice', {flag, value, fault: `the program declares no table ${name}`})
    return found
  }
  const columnOf = (flag: string, value: string, form: string): [Table, Column, string] => {
    const refuse = (fault: string): never => {
      throw new SvcError('migration_choice', {flag, value, fault})
    }
    const [, tableName = '', columnName = '', text = ''] =
      /^(\w+)\.(\w+)=(.*)$/s.exec(value) ?? refuse(`it is not of the form Table.column=${form}`)
    const table = tableOf(flag, value, tableName)
    const column = table.columns.find(({name}) => name === columnName)
    return column === undefined ? refuse(`table ${table.name} has no column ${columnName}`) : [table, column, text]
  }
  const defaults = decisions.defaults.map((value): [string, string] => {
    const [table, column, text] = columnOf('--default', value, 'json')
    return [`${table.sqlName}.${column.name}`, defaultLiteral(column, text, value)]
  })
  const usings = decisions.usings.map((value): [string, string] => {
    const [table, column, text] = columnOf('--using', value, 'expression')
    if (changes(steps, table, column)) return [`${table.sqlName}.${column.name}`, text]
    throw new SvcError('migration_choice', {
      flag: '--using',
      value,
      fault: 'no migration step changes the values of this column',
    })
  })
  // A value for a changed column also decides on the rebuild of its table.
  const decided = steps.filter(
    ({class: kind, table, column}) => kind === 'rebuild' && defaults.some(([name]) => name === `${table}.${column}`),
  )
  return {
    defaults: new Map(defaults),
    drops: new Set(decisions.drops.map((value) => readDrop(program, steps, value))),
    rebuilds: new Set([
      ...decisions.rebuilds.map((value) => tableOf('--rebuild', value, value).sqlName),
      ...decided.map(({table = ''}) => table),
      ...usings.map(([name]) => name.slice(0, name.indexOf('.'))),
    ]),
    usings: new Map(usings),
  }
}

const changes = (steps: readonly Step[], {sqlName}: Table, {name}: Column): boolean =>
  steps.some(
    ({action, class: kind, table, column}) =>
      table === sqlName && column === name && (action === 'add_column' || kind === 'rebuild'),
  )

function defaultLiteral(column: Column, text: string, value: string): string {
  const refuse = (fault: string): never => {
    throw new SvcError('migration_choice', {flag: '--default', value, fault})
  }
  try {
    return literalOf(column, parseJsonText(text))
  } catch (error) {
    if (error instanceof SyntaxError) return refuse('the value is not JSON; quote text with "')
    if (error instanceof TypeMismatch) return refuse(`the value must be ${show(column.type)}`)
    throw error
  }
}

function readDrop(program: Program, steps: readonly Step[], value: string): string {
  const [tableName = '', column] = value.split('.')
  const table = program.tables.find(({name}) => name === tableName)?.sqlName ?? tableName
  const dropStep = steps.find((step) =>
    column === undefined
      ? step.action === 'drop_table' && step.table === table
      : step.action === 'drop_column' && step.table === table && step.column === column,
  )
  if (dropStep === undefined)
    throw new SvcError('migration_choice', {
      flag: '--drop',
      value,
      fault: 'no migration step drops it, because it is declared or does not exist',
    })
  return column === undefined ? table : `${table}.${column}`
}
