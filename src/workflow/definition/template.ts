import {display} from '../../lang/index.js'
import {compileExpression, type Expression, ExpressionFailure, type Scope} from './expression.js'

/** A value whose texts can contain expressions. @throws ExpressionFailure */
export type Template<T = unknown> = (scope: Scope) => T

/**
 * Compiles a JSON value. `${{ expression }}` alone yields the value of the expression; within a text, its text.
 * @throws ExpressionFailure
 */
export function compileTemplate(value: unknown, names: readonly string[]): Template {
  if (typeof value === 'string') return compileText(value, names)
  if (Array.isArray(value)) {
    const items = value.map((item) => compileTemplate(item, names))
    return (scope) => items.map((item) => item(scope))
  }
  if (typeof value !== 'object' || value === null) return () => value
  const members = Object.entries(value).map(([key, member]) => [key, compileTemplate(member, names)] as const)
  return (scope) => Object.fromEntries(members.map(([key, member]) => [key, member(scope)]))
}

function compileText(text: string, names: readonly string[]): Template {
  const parts = partsOf(text)
  const compiled = parts.map((part): string | Expression =>
    typeof part === 'string' ? part : compileExpression(part.expression, names),
  )
  const [only] = compiled
  if (compiled.length === 0) return () => text
  if (compiled.length === 1 && typeof only === 'function') return only
  return (scope) => compiled.map((part) => (typeof part === 'string' ? part : textOf(part(scope)))).join('')
}

const textOf = (value: unknown): string => (value === null ? '' : display(value))

type Part = string | {expression: string}

/** Splits a text at its expressions; empty parts are omitted. */
function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let at = 0
  while (at < text.length) {
    const start = text.indexOf('${{', at)
    if (start === -1) break
    const end = endOf(text, start + 3)
    if (start > at) parts.push(text.slice(at, start))
    parts.push({expression: text.slice(start + 3, end)})
    at = end + 2
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}

/** The position of the `}}` that ends an expression. Braces within its strings and objects do not end it. */
function endOf(text: string, start: number): number {
  let depth = 0
  let quote = ''
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string
    if (quote !== '') {
      if (character === '\\') at++
      else if (character === quote) quote = ''
    } else if (character === '"') quote = character
    else if (character === '{') depth++
    else if (character === '}') {
      if (depth === 0 && text[at + 1] === '}') return at
      depth--
    }
  }
  throw new ExpressionFailure(`the expression in "${text.slice(start - 3)}" has no }}`)
}

/** True if a text contains an expression. */
export const hasExpression = (text: string): boolean => text.includes('${{')
