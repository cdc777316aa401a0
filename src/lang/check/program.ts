import {type Diagnostic, Diagnostics} from '../diagnostics/index.js'
import {
  type Body,
  type EndpointKind,
  type FunctionDecl,
  type HttpDecl,
  type Module,
  type Name,
  parse,
  parseHeads,
} from '../syntax/index.js'
import {checkBody, checkConditions, checkConstants, checkDefaults} from './body.js'
import {reportConstants} from './constants.js'
import type {Declarations} from './declarations.js'
import {declare} from './declare.js'
import {checkEffects, isPure} from './effects.js'
import type {FunctionType, Route} from './ir.js'
import {checkRoutes, endpointsFirst} from './routes.js'
import {type SourceSymbol, Symbols} from './symbols.js'
import type {Index, RecordType, SumType, Table} from './types.js'

/** A checked program. Only a program without errors can be planned and run. */
export interface Program {
  readonly source: string
  /** By position, then by code. */
  readonly diagnostics: readonly Diagnostic[]
  readonly hasErrors: boolean
  /** In source order, like all following lists. */
  readonly tables: readonly Table[]
  readonly indexes: readonly Index[]
  readonly records: readonly RecordType[]
  readonly sums: readonly SumType[]
  /** Functions, endpoints, tests and routes. */
  readonly functions: readonly FunctionType[]
  readonly routes: readonly Route[]
  readonly tests: readonly FunctionType[]
  /** Decorators without effect. */
  readonly decorators: readonly Name[]
  readonly symbols: readonly SourceSymbol[]
  readonly declarations: Declarations
}

export interface CheckOptions {
  /** Whether to record the meaning of every name, for editors. */
  symbols?: boolean
}

/** Parses and checks a source. Never throws. */
export function checkProgram(source: string, {symbols: withSymbols = false}: CheckOptions = {}): Program {
  const begin = () => ({source, diagnostics: new Diagnostics(), symbols: withSymbols ? new Symbols() : undefined})
  const quick = begin()
  const heads = parseHeads(source, quick.diagnostics)
  const program = heads === undefined ? undefined : checkModule(heads, quick)
  if (program !== undefined) return program
  const whole = begin()
  return checkModule(parse(source, whole.diagnostics).module, whole) as Program
}

interface Checking {
  source: string
  diagnostics: Diagnostics
  symbols: Symbols | undefined
}

/** Undefined if a body that was skipped contains an error. */
function checkModule(module: Module, {source, diagnostics, symbols}: Checking): Program | undefined {
  const declarations = declare(module, diagnostics, symbols)
  const context = {declarations, diagnostics, symbols, source}
  checkConstants(context)
  checkDefaults(context)
  checkConditions(context)
  const functions = declarations.bodies
  const impure: FunctionType[] = []
  for (const made of functions) {
    const body = made.decl.body()
    if (body === undefined) return undefined
    checkBody(made, body, context)
    release(made.decl)
    if (!isPure(made)) impure.push(made)
  }
  reportConstants(declarations.constants.values(), diagnostics)
  const {indexes, routes, tests} = declarations
  checkRoutes(routes, diagnostics)
  checkEffects(impure, diagnostics)
  const tables = [...declarations.tables.values()]
  return {
    source,
    diagnostics: diagnostics.sorted(),
    hasErrors: diagnostics.hasErrors,
    tables,
    indexes,
    records: [...declarations.records.values()],
    sums: [...declarations.sums.values()],
    functions,
    routes: endpointsFirst(routes),
    tests,
    decorators: module.decorators,
    symbols: symbols?.all ?? [],
    declarations,
  }
}

const released: Body = () => undefined
const none: FunctionDecl['params'] = []

type Mutable<T> = {-readonly [K in keyof T]: T[K]}

/** Releases the syntax tree of a checked function, and with the last one the tokens. */
function release(decl: Mutable<FunctionDecl | HttpDecl>): void {
  decl.body = released
  decl.params = none
  decl.result = undefined
}

export const kindOf = ({decl}: FunctionType): EndpointKind | 'http' | 'plain' => {
  if (decl.kind === 'http') return 'http'
  return decl.endpoint === undefined || decl.endpoint === 'invalid' ? 'plain' : decl.endpoint
}
