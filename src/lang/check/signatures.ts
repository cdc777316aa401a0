import type {Span} from '../diagnostics/index.js'
import type {FunctionDecl, HttpDecl} from '../syntax/index.js'
import type {Declaring} from './declarations.js'
import type {FunctionType} from './ir.js'
import {Scope} from './scope.js'
import {isDoubleOption, readTypeNode, showNode} from './type-nodes.js'
import {isStorable, request, show, str, type Type, unit, unknown} from './types.js'

/** A signature such as `fn(tag: str, max: int) to List[Book]`, with the name if there is one. */
export function signature({decl, params, result: type}: FunctionType, name = ''): string {
  const declared = params.filter((param) => param.type.kind !== 'request')
  const before = decl.kind === 'function' ? `fn ${name || decl.name.text}` : `http ${decl.method} "${decl.path.text}" `
  return `${before}(${declared.map((param) => `${param.name}: ${show(param.type)}`).join(', ')}) to ${show(type)}`
}

/** The names of the placeholders `{id}` and `:id` in a path. */
export const placeholders = (path: string): string[] =>
  path.split('/').flatMap((segment) => /^(?:\{(\w+)\}|:(\w+))$/.exec(segment)?.slice(1).find(Boolean) ?? [])

export function declareFunction(d: Declaring, decl: FunctionDecl): void {
  const {name} = decl
  const {functions, bodies} = d.declared
  const before = functions.get(name.text)
  const made = readSignature(d, decl, name.text, name)
  d.symbols?.define(name, () => signature(made.function), decl.doc)
  if (before !== undefined)
    d.diagnostics.report('typecheck.duplicate_name', name, `Function ${name.text} is already declared.`, {
      related: [{...before.span, message: 'first declared'}],
    })
  else functions.set(name.text, made.function)
  bodies.push(made)
}

export function declareRoute(d: Declaring, decl: HttpDecl): void {
  const {path} = decl
  const made = readSignature(d, decl, `${decl.method} ${path.text}`, path)
  const {params} = made.function
  const add = (name: string, type: Type, optional: boolean) => {
    const binding = made.scope.bind(name, type, path)
    params.push({name, type, binding, fallback: undefined, optional, span: path})
  }
  for (const name of placeholders(path.text)) if (!params.some((param) => param.name === name)) add(name, str, false)
  add('request', request, true)
  d.declared.routes.push({decl, function: made.function})
  d.declared.bodies.push(made)
}

function readSignature(
  d: Declaring,
  decl: FunctionDecl | HttpDecl,
  name: string,
  span: Span,
): {function: FunctionType; scope: Scope} {
  const scope = new Scope()
  const made: FunctionType = {
    name,
    decl,
    params: [],
    result: decl.broken ? unknown : decl.result === undefined ? unit : readTypeNode(d, decl.result),
    body: undefined,
    slots: 0,
    effects: [],
    chains: [],
    calls: [],
    span,
  }
  const seen = new Set<string>()
  for (const param of decl.params) {
    const {text} = param.name
    if (seen.has(text))
      d.diagnostics.report('typecheck.duplicate_name', param.name, `Parameter ${text} is already declared.`)
    seen.add(text)
    const type = readTypeNode(d, param.type)
    const binding = scope.bind(text, type, param.name)
    d.symbols?.define(param.name, () => `${text}: ${show(type)}`)
    const optional = param.fallback !== undefined
    made.params.push({name: text, type, binding, fallback: undefined, optional, span: param.name})
  }
  if (decl.kind === 'http' || decl.endpoint !== undefined) checkServedTypes(d, made)
  return {function: made, scope}
}

/** Values sent over HTTP need a declared, serialisable type. */
function checkServedTypes({diagnostics}: Declaring, {decl, params, result}: FunctionType): void {
  for (const [i, {name, type: node}] of decl.params.entries()) {
    const type = params[i]?.type ?? unknown
    if (node === undefined)
      diagnostics.report('typecheck.param_type', name, `Endpoint parameter '${name.text}' needs a type.`)
    else if (isDoubleOption(node) || !(isStorable(type) || type.kind === 'row'))
      diagnostics.report('typecheck.param_type', node, `Type ${showNode(node)} cannot be an endpoint parameter.`)
  }
  if (decl.result !== undefined && holdsFunction(result))
    diagnostics.report(
      'typecheck.param_type',
      decl.result,
      `Type ${showNode(decl.result)} cannot be an endpoint result.`,
    )
}

function holdsFunction(type: Type): boolean {
  if (type.kind === 'function' || type.kind === 'request') return true
  if ('of' in type) return holdsFunction(type.of)
  return type.kind === 'result' && (holdsFunction(type.ok) || holdsFunction(type.error))
}
