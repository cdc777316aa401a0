import {type DiagnosticDetails, didYouMean, near} from '../diagnostics/index.js'
import type {Expr, MemberExpr, Name} from '../syntax/index.js'
import {familyOf, methods, namespaced, namespaces} from './builtins.js'
import {type Checker, nothing} from './checker.js'
import {foreignMethod} from './foreign-methods.js'
import type {Ir} from './ir.js'
import {reportUnknownField} from './records.js'
import {isDeclaredType} from './type-nodes.js'
import {type FieldType, int, show, str, type Type, unknown} from './types.js'

export function checkMember(c: Checker, expr: MemberExpr): Ir {
  const name = namespacedName(c, expr)
  if (name !== undefined) {
    reportUnknownNamespaced(c, expr.member, name)
    return nothing
  }
  const object = c.value(expr.object)
  const {type} = object
  const {member} = expr
  switch (type.kind) {
    case 'row':
      return checkColumn(c, object, type, member)
    case 'record':
      return checkField(c, object, type.record.name, type.record.fields, member)
    case 'object': {
      const fields = [...type.fields].map(([field, of]): FieldType => ({name: field, type: of, span: member}))
      return checkField(c, object, 'The object', fields, member)
    }
    case 'unknown':
    case 'never':
      return {kind: 'field', object, name: member.text, of: 'unknown', type: unknown}
    default:
      c.report(
        'typecheck.unknown_field',
        member,
        `${show(type)} has no field '${member.text}'.`,
        memberHint(type, member.text),
      )
      return nothing
  }
}

function memberHint(type: Type, name: string): DiagnosticDetails {
  const family = familyOf(type)
  const known = family === undefined ? [] : Object.keys(methods[family])
  const called = known.includes(name) ? name : foreignMethod(name, known)
  if (called !== undefined) return {hints: [`Call the method: .${called}(...)`]}
  if (type.kind === 'option') return {hints: ['The value may be absent: use match, unwrap_or or ?.']}
  if (type.kind === 'map') return {hints: [`Write ["${name}"] or .get("${name}").`]}
  if (type.kind === 'sum') return {hints: ['Use match to read the fields of a variant.']}
  return {}
}

function checkColumn(c: Checker, object: Ir, {table, selected}: Type & {kind: 'row'}, member: Name): Ir {
  const {columns} = table
  const fields = columns.some(({name}) => name === member.text) ? columns : [table.id, ...columns]
  const ir = checkField(c, object, table.name, fields, member, 'row')
  if (selected !== undefined && ir !== nothing && !selected.has(member.text))
    c.report('typecheck.column_not_selected', member, `Column '${member.text}' is not selected.`, {
      hints: [`Selected columns: ${[...selected].join(', ')}`],
    })
  return ir
}

function checkField(
  c: Checker,
  object: Ir,
  of: string,
  fields: readonly FieldType[],
  member: Name,
  kind: 'row' | 'record' = 'record',
): Ir {
  const field = fields.find(({name}) => name === member.text)
  if (field === undefined) {
    reportUnknownField(c, member, of, fields)
    return nothing
  }
  c.symbols?.use(member, field.span, () => `${of}.${field.name}: ${show(field.type)}`)
  return {kind: 'field', object, name: member.text, of: kind, type: field.type}
}

export function checkIndex(c: Checker, {object: inner, index: at}: Expr & {kind: 'index'}): Ir {
  const object = c.value(inner)
  const {type} = object
  switch (type.kind) {
    case 'list':
    case 'set':
      return {kind: 'index', object, index: c.check(at, int), of: 'list', type: type.of}
    case 'str':
      return {kind: 'index', object, index: c.check(at, int), of: 'str', type: str}
    case 'map':
      return {kind: 'index', object, index: c.check(at, str), of: 'map', type: type.of}
    case 'tuple': {
      const index = c.check(at, int)
      const item = index.kind === 'const' && typeof index.value === 'number' ? type.items.at(index.value) : unknown
      return {kind: 'index', object, index, of: 'list', type: item ?? unknown}
    }
    case 'unknown':
    case 'never':
      return {kind: 'index', object, index: c.value(at), of: 'unknown', type: unknown}
    default:
      c.report('typecheck.not_indexable', inner, `Cannot index a value of type ${show(type)}.`)
      c.value(at)
      return nothing
  }
}

/** The full name of a namespaced function such as `std.time.now_ms`; undefined for anything else. */
export function namespacedName(c: Checker, expr: MemberExpr): string | undefined {
  let root: Expr = expr
  while (root.kind === 'member') root = root.object
  if (root.kind !== 'name' || !namespaces.has(root.name.text) || c.scope.find(root.name.text) !== undefined)
    return undefined
  if (isDeclaredType(c.declarations, root.name.text)) return undefined
  const names: string[] = []
  for (let at: Expr = expr; at.kind === 'member'; at = at.object) names.unshift(at.member.text)
  return [root.name.text, ...names].join('.')
}

export function reportUnknownNamespaced(c: Checker, member: Name, name: string): void {
  const root = name.split('.')[0] ?? ''
  const known = Object.keys(namespaced).filter((each) => each.startsWith(`${root}.`))
  const suggestion = near(name, known)
  const hints = name === 'Date.now' ? ['Write DateTime.now(), or std.time.now_ms() for Unix ms.'] : []
  const advice = hints.length === 0 ? didYouMean(suggestion) : ''
  c.report('typecheck.undefined', member, `Undefined name '${name}'.${advice}`, {hints})
}
