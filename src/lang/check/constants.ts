import type {Diagnostics} from '../diagnostics/index.js'
import type {ConstDecl, Expr, Name} from '../syntax/index.js'
import {type Checker, nothing} from './checker.js'
import type {Constant} from './declarations.js'
import type {Ir} from './ir.js'
import {show} from './types.js'

/** The value of a constant; its error is reported where it is first used. */
export function useConstant(c: Checker, constant: Constant, name: Name): Ir {
  const {decl, value, fault, isUsed} = constant
  constant.isUsed = true
  c.symbols?.use(
    name,
    decl.name,
    () => `const ${name.text}${value === undefined ? '' : `: ${show(value.type)}`}`,
    decl.doc,
  )
  if (value !== undefined) return value
  if (fault === undefined)
    c.report('typecheck.undefined', name, `Constant '${name.text}' is declared after the constant that uses it.`)
  else if (!isUsed) {
    const {code, message, severity: _, ...details} = fault
    c.report(code, details, message, details)
  }
  return nothing
}

/** Maximum number of parts of a constant, whose value replaces each use. */
const maxParts = 5000

const constantKinds: ReadonlySet<string> = new Set(
  'const list tuple object map variant some ok error negate not and or arithmetic concat compare'.split(' '),
)
const conversions: ReadonlySet<string> = new Set(['as_map', 'as_set', 'dec'])

const isConstant = (ir: Ir): boolean =>
  constantKinds.has(ir.kind) || (ir.kind === 'builtin' && conversions.has(ir.name))

/** The parts of a constant, each of which is a node of the checked tree. */
function partsOf(ir: Ir): readonly Ir[] {
  switch (ir.kind) {
    case 'list':
    case 'tuple':
      return ir.items
    case 'object':
    case 'map':
      return ir.entries.map(([, value]) => value)
    case 'variant':
    case 'builtin':
      return ir.args.map((arg) => (Array.isArray(arg) ? (arg as [string, Ir])[1] : (arg as Ir)))
    case 'some':
    case 'ok':
    case 'error':
      return [ir.value]
    case 'not':
    case 'negate':
      return [ir.operand]
    default:
      return 'left' in ir ? [ir.left, ir.right] : []
  }
}

/** Reports a value that is not made of literals and other constants, or has too many parts. */
export function requireConstant(diagnostics: Diagnostics, expr: Expr, value: Ir, isDefault = false): void {
  const parts = [value]
  for (const part of parts) {
    if (parts.length > maxParts) {
      diagnostics.report('typecheck.constant', expr, `A constant has at most ${maxParts} parts.`)
      return
    }
    if (!isConstant(part)) {
      const isTime =
        isDefault && part.kind === 'builtin' && (part.name === 'DateTime.now' || part.name === 'std.time.now_ms')
      diagnostics.report('typecheck.constant', expr, 'A constant consists of literals and other constants.', {
        hints: isTime ? ['The default of a column is the current time if it is now().'] : [],
      })
      return
    }
    parts.push(...partsOf(part))
  }
}

/** Reports repeated constants. Those with an error that no function uses are declarations of another dialect. */
export function reportConstants(constants: Iterable<Constant>, diagnostics: Diagnostics): void {
  for (const {decl, fault, isUsed, repeated} of constants) {
    const isForeign = fault !== undefined && !isUsed
    if (isForeign) for (const each of [decl, ...repeated]) warnSkipped(each, fault.message, diagnostics)
    else
      for (const {name} of repeated)
        diagnostics.report('typecheck.duplicate_name', name, `Constant ${name.text} is already declared.`, {
          related: [{start: decl.name.start, end: decl.name.end, message: 'first declared'}],
        })
  }
}

export function warnSkipped({start}: ConstDecl, reason: string, diagnostics: Diagnostics): void {
  const span = {start, end: start + 'const'.length}
  const message = 'const is outside the data language and is skipped.'
  diagnostics.report('parse.unsupported_declaration', span, message, {hints: [reason]})
}
