import type {Cursor} from './cursor.js'
import {beginsDeclaration, foreignDecorators, foreignHeads, knownDecorators, retired} from './heads.js'
import {T} from './token.js'

/** Parts of names that promise to restrict access. */
const protections: ReadonlySet<string> = new Set(
  `admin auth authenticate authenticated authorization authorize authorized guard guarded login permission permissions
policy private protect protected restricted role roles rule rules secure secured`.split(/\s+/),
)

/** Whether a decorator promises to restrict access: `@auth`, `@rule`, `@requires_role`, `@adminOnly`. */
export const promisesProtection = (decorator: string): boolean =>
  decorator.split(/[@._]|(?<=[a-z0-9])(?=[A-Z])/).some((part) => protections.has(part.toLowerCase()))

/**
 * decorator = DECORATOR [ "(" balanced ")" ] ; Skips those that the data language does not have, up to the declaration
 * that they decorate. At the head of a declaration, retired and foreign decorators are left for it.
 */
export function skipDecorators(c: Cursor, isHead: boolean): void {
  while (c.kind === T.decorator) {
    const name = c.text()
    if (knownDecorators.has(name) || (isHead && (name in retired || foreignDecorators.has(name)))) return
    if (name in retired) c.report('parse.retired_decorator', c.span, `${name} is retired; ${retired[name]}.`)
    else reportSkipped(c, name)
    c.decorators.push(c.takeName())
    skipArguments(c)
  }
}

/** Skips arguments in parentheses, or without any up to the line end: `@tool "search"`. */
function skipArguments(c: Cursor): void {
  while (c.kind !== T.eof && !c.firstOnLine && !beginsDeclaration(c) && !foreignHeads.has(c.text())) {
    if (c.kind === T.parenOpen || c.kind === T.bracketOpen || c.kind === T.braceOpen) c.skipGroup()
    else c.next()
  }
}

function reportSkipped(c: Cursor, name: string): void {
  const hint = promisesProtection(name)
    ? 'svc does not enforce it, so the program cannot be served.'
    : 'Only the decorator is skipped; the declaration below it is kept.'
  const details = {hints: [hint]}
  // A name with a dot belongs to another surface of the full language.
  if (name.includes('.'))
    c.report('parse.unsupported_declaration', c.span, `${name} is outside the data language and is skipped.`, details)
  else c.report('parse.unsupported_decorator', c.span, `${name} has no effect in the data language.`, details)
}
