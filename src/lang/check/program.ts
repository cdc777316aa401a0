import {type Diagnostic, Diagnostics} from '../diagnostics/index.js'
import {type Block, type EndpointKind, type Name, parse} from '../syntax/index.js'
import {checkBody} from './body.js'
import type {Declarations} from './declarations.js'
import {declare} from './declare.js'
import {checkEffects} from './effects.js'
import type {FunctionType} from './ir.js'
import {checkRoutes, type Route, routesOf} from './routes.js'
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
  const diagnostics = new Diagnostics()
  const symbols = withSymbols ? new Symbols() : undefined
  const {module} = parse(source, diagnostics)
  const declarations = declare(module, diagnostics, symbols)
  const context = {declarations, diagnostics, symbols, source}
  for (const {function: made, scope} of declarations.bodies) {
    checkBody(made, scope, context)
    release(made.decl)
  }
  const routes = routesOf(declarations)
  checkRoutes(routes, diagnostics)
  checkEffects(declarations, diagnostics)
  const functions = declarations.bodies.map((body) => body.function)
  const tables = [...declarations.tables.values()]
  return {
    source,
    diagnostics: diagnostics.sorted(),
    hasErrors: diagnostics.hasErrors,
    tables,
    indexes: module.decls.flatMap((decl) => {
      if (decl.kind !== 'index') return []
      const found = declarations.tables.get(decl.table.text)?.indexes.find(({name}) => name === decl.name.text)
      return found === undefined ? [] : [found]
    }),
    records: [...declarations.records.values()],
    sums: [...declarations.sums.values()],
    functions,
    routes,
    tests: functions.filter(({decl}) => decl.kind === 'function' && decl.test),
    decorators: module.decorators,
    symbols: symbols?.all ?? [],
    declarations,
  }
}

const released: Block = {kind: 'block', statements: [], depth: 0, start: 0, end: 0}

/** Releases the syntax tree of a checked body, to halve the memory of a large program. */
function release(decl: {body: Block}): void {
  decl.body = released
}

export const kindOf = ({decl}: FunctionType): EndpointKind | 'http' | 'plain' => {
  if (decl.kind === 'http') return 'http'
  return decl.endpoint === undefined || decl.endpoint === 'invalid' ? 'plain' : decl.endpoint
}
