import type {Diagnostics, Span} from '../diagnostics/index.js'
import type {EndpointKind} from '../syntax/index.js'
import type {Declarations} from './declarations.js'
import type {FunctionType} from './ir.js'
import {placeholders} from './signatures.js'

/** Something that answers HTTP. */
export interface Route {
  kind: EndpointKind | 'http'
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With placeholders in braces: `/books/{id}`. */
  path: string
  function: FunctionType
}

const prefixes = {query: '/api/query/', mutation: '/api/mutation/', server: '/api/'} as const

/** The routes of a program: endpoints first, then those that it declares itself, each in the order of the source. */
export function routesOf(declarations: Declarations): Route[] {
  const endpoints = declarations.bodies.flatMap(({function: made}): Route[] => {
    const {decl} = made
    if (decl.kind !== 'function' || decl.endpoint === undefined || decl.endpoint === 'invalid') return []
    const method = decl.endpoint === 'query' ? 'GET' : 'POST'
    return [{kind: decl.endpoint, method, path: prefixes[decl.endpoint] + made.name, function: made}]
  })
  const declared = declarations.routes.map(({decl, function: made}): Route => {
    const path = decl.path.text.replace(/:(\w+)(?=\/|$)/g, '{$1}')
    return {kind: 'http', method: decl.method.toUpperCase() as Route['method'], path, function: made}
  })
  return [...endpoints, ...declared]
}

export function checkRoutes(routes: readonly Route[], diagnostics: Diagnostics): void {
  const seen = new Map<string, Route>()
  // In the order of the source: it is the later one that is too many.
  for (const route of [...routes].sort((a, b) => a.function.span.start - b.function.span.start)) {
    const {decl} = route.function
    const span: Span = decl.kind === 'http' ? decl.path : route.function.span
    if (decl.kind === 'http') checkPath(decl.path.text, span, diagnostics)
    const key = `${route.method} ${decl.kind === 'http' ? shapeOf(route.path) : route.path}`
    const other = seen.get(key)
    if (other !== undefined)
      diagnostics.report(
        'typecheck.duplicate_route',
        span,
        `Route ${route.method} ${route.path} is already declared.`,
        {
          related: [{...other.function.span, message: 'declared first'}],
        },
      )
    else seen.set(key, route)
  }
}

/** A path without the names of its placeholders. */
const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}').replace(/(.)\/$/, '$1')

function checkPath(path: string, span: Span, diagnostics: Diagnostics): void {
  const fault = pathFault(path)
  if (fault !== undefined) diagnostics.report('typecheck.route_path', span, `Route path "${path}" ${fault}.`)
}

function pathFault(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must begin with /'
  const segments = path.slice(1).split('/')
  if (segments.some((segment, i) => segment === '' && (i < segments.length - 1 || segments.length > 2) && path !== '/'))
    return 'has an empty segment'
  const strange = segments.find((segment) => !/^(\{[A-Za-z_]\w*\}|:[A-Za-z_]\w*|[\w.~!$&'()+,;=@%-]*)$/.test(segment))
  if (strange !== undefined)
    return `has a segment that cannot be matched, "${strange}"; a placeholder is a whole segment, as {id}`
  const names = placeholders(path)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  return twice === undefined ? undefined : `names the placeholder ${twice} twice`
}
