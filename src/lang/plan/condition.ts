import type {Column, Condition, Index, Ir, Table} from '../check/index.js'
import {decimalKey, keyOf, quoted} from './sql.js'

/** The SQL of a condition on the rows of a table, without parameters. */
export const conditionSql = ({ir}: Condition, table: Table): string => write(ir as Ir, table)

/** The columns that a condition names. */
export function conditionColumns({ir}: Condition, {columns}: Table): Column[] {
  const names = new Set<string>()
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(visit)
    if (typeof part !== 'object' || part === null) return
    const {kind, binding} = part as {kind?: string; binding?: {name: string}}
    if (kind === 'local' && binding !== undefined) names.add(binding.name)
    else
      for (const key of ['left', 'right', 'operand', 'object', 'args'])
        if (key in part) visit((part as Record<string, unknown>)[key])
  }
  visit(ir)
  return columns.filter(({name}) => names.has(name))
}

/** The columns that an index reads. */
export const indexedColumns = ({columns, where, table}: Index): readonly Column[] =>
  where === undefined ? columns : [...columns, ...conditionColumns(where, table)]

const operators = {is: '=', isnt: '<>', '<': '<', '>': '>', '<=': '<=', '>=': '>='} as const

const textSql: Readonly<Record<string, (self: string, part: string) => string>> = {
  len: (self) => `length(${self})`,
  is_empty: (self) => `${self} = ''`,
  contains: (self, part) => `instr(${self}, ${part}) > 0`,
  starts_with: (self, part) => `substr(${self}, 1, length(${part})) = ${part}`,
}

/** Kinds whose SQL needs no parentheses as an operand. */
const atoms: ReadonlySet<string> = new Set(['const', 'local', 'variant', 'builtin'])

function write(ir: Ir, table: Table): string {
  const inner = (part: Ir) => (atoms.has(part.kind) ? write(part, table) : `(${write(part, table)})`)
  switch (ir.kind) {
    case 'const':
      return literal(ir)
    case 'local': {
      const column = table.columns.find(({name}) => name === ir.binding.name)
      return column === undefined ? quoted(ir.binding.name) : keyOf(column)
    }
    case 'variant':
      return text(ir.variant.name)
    case 'not':
      return `NOT (${write(ir.operand, table)})`
    case 'negate':
      return `-(${write(ir.operand, table)})`
    case 'and':
    case 'or':
      return `${inner(ir.left)} ${ir.kind.toUpperCase()} ${inner(ir.right)}`
    case 'compare':
      return `${inner(ir.left)} ${operators[ir.operator]} ${inner(ir.right)}`
    case 'arithmetic':
      return `${inner(ir.left)} ${ir.operator} ${inner(ir.right)}`
    case 'builtin':
      return `length(${ir.args.map((arg) => write(arg, table)).join()})`
    case 'method':
      return textSql[ir.name]?.(inner(ir.object), ir.args.map(inner).join()) ?? ''
    default:
      throw new Error(`not a condition: ${ir.kind}`)
  }
}

const text = (value: string) => `'${value.replaceAll("'", "''")}'`

function literal({value, type}: Ir & {kind: 'const'}): string {
  if (type.kind === 'dec') return decimalKey(text(String(value)))
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'string' ? text(value) : String(value)
}
