import type {Span} from '../diagnostics/index.js'
import type {FunctionDecl, HttpDecl, Param} from '../syntax/index.js'
import type {Declaring} from './declarations.js'
import type {FunctionType, ParamType} from './ir.js'
import {repeatedNames} from './names.js'
import {checkPath, endpointRoute, httpRoute, placeholders} from './routes.js'
import {isDoubleOption, readTypeNode, showNode} from './type-nodes.js'
import {isStorable, request, show, str, type Type, unit, unknown} from './types.js'

/** A signature such as `fn(tag: str, max: int) to List[Book]`, with the name if there is one. */
export function signature({decl, params, result: type}: FunctionType, name = ''): string {
  const declared = params.filter((param) => param.type.kind !== 'request')
  const before = decl.kind === 'function' ? `fn ${name || decl.name.text}` : `http ${decl.method} "${decl.path.text}" `
  return `${before}(${declared.map((param) => `${param.name}: ${show(param.type)}`).join(', ')}) to ${show(type)}`
}

export function declareFunction(d: Declaring, decl: FunctionDecl): void {
  const {name} = decl
  const {functions, bodies} = d.declared
  const before = functions.get(name.text)
  const made = readSignature(d, decl, name.text, name)
  d.symbols?.define(name, () => signature(made), decl.doc)
  if (before !== undefined)
    d.diagnostics.report('typecheck.duplicate_name', name, `Function ${name.text} is already declared.`, {
      related: [{...before.span, message: 'first declared'}],
    })
  else functions.set(name.text, made)
  bodies.push(made)
  if (decl.test) declareTest(d, made)
  if (decl.endpoint !== undefined && decl.endpoint !== 'invalid')
    d.declared.routes.push(endpointRoute(decl.endpoint, made))
}

function declareTest({diagnostics, declared}: Declaring, made: FunctionType): void {
  const required = made.params.find(({optional, type}) => !optional && type.kind !== 'option')
  if (required !== undefined)
    diagnostics.report(
      'typecheck.arg_count',
      required.span,
      `A test is called without arguments; '${required.name}' needs one.`,
    )
  declared.tests.push(made)
}

export function declareRoute(d: Declaring, decl: HttpDecl): void {
  const {path} = decl
  checkPath(path, d.diagnostics)
  const made = readSignature(d, decl, `${decl.method} ${path.text}`, path)
  const {params} = made
  const add = (name: string, type: Type, optional: boolean) =>
    params.push(parameter({name, type, optional, span: path}, params.length))
  for (const name of placeholders(path.text)) if (!params.some((param) => param.name === name)) add(name, str, false)
  add('request', request, true)
  d.declared.routes.push(httpRoute(decl, made))
  d.declared.bodies.push(made)
}

/** A parameter with its variable, which is in the slot at its position. */
function parameter({name, type, optional, span}: Pick<ParamType, 'name' | 'type' | 'optional' | 'span'>, slot: number) {
  const binding = {name, type, slot, mutable: false, lambdas: 0, boxed: false, span}
  return {name, type, binding, fallback: undefined, optional, span}
}

function readSignature(d: Declaring, decl: FunctionDecl | HttpDecl, name: string, span: Span): FunctionType {
  const result = decl.broken ? unknown : decl.result === undefined ? unit : readTypeNode(d, decl.result)
  const repeated = repeatedNames(decl.params, nameOf)
  const params = decl.params.map((param, slot): ParamType => {
    const {text} = param.name
    if (repeated.has(param))
      d.diagnostics.report('typecheck.duplicate_name', param.name, `Parameter ${text} is already declared.`)
    const type = readTypeNode(d, param.type)
    d.symbols?.define(param.name, () => `${text}: ${show(type)}`)
    return parameter({name: text, type, optional: param.fallback !== undefined, span: param.name}, slot)
  })
  const made = {name, decl, params, result, body: undefined, slots: 0, effects: [], chains: [], calls: [], span}
  if (decl.kind === 'http' || decl.endpoint !== undefined) checkServedTypes(d, made)
  return made
}

const nameOf = ({name}: Param) => name.text

/** Values sent over HTTP need a declared, serialisable type. */
function checkServedTypes({diagnostics}: Declaring, {decl, params, result}: FunctionType): void {
  decl.params.forEach(({name, type: node}, i) => {
    const type = params[i]?.type ?? unknown
    if (node === undefined)
      diagnostics.report('typecheck.param_type', name, `Endpoint parameter '${name.text}' needs a type.`)
    else if (isDoubleOption(node) || !(isStorable(type) || type.kind === 'row'))
      diagnostics.report('typecheck.param_type', node, `Type ${showNode(node)} cannot be an endpoint parameter.`)
  })
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
