import type {Diagnostics, Span} from '../diagnostics/index.js'
import type {EndpointKind} from '../syntax/index.js'
import type {Declarations} from './declarations.js'
import type {FunctionType} from './ir.js'
import {placeholders} from './signatures.js'

/** An HTTP route. */
export interface Route {
  kind: EndpointKind | 'http'
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With placeholders in braces: `/books/{id}`. */
  path: string
  function: FunctionType
}

const prefixes = {query: '/api/query/', mutation: '/api/mutation/', server: '/api/'} as const

/** The routes of a program: first endpoints, then declared routes, each in source order. */
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

/** The routes, and at the end those of queries with parameters by POST, whose arguments need not fit into a URL. */
export const servedRoutes = (routes: readonly Route[]): readonly Route[] => [
  ...routes,
  ...routes
    .filter(({kind, function: {params}}) => kind === 'query' && params.length > 0)
    .map((route): Route => ({...route, method: 'POST'})),
]

export function checkRoutes(routes: readonly Route[], diagnostics: Diagnostics): void {
  const seen = new Map<string, Route>()
  // In source order, so that the later duplicate is reported.
  for (const route of [...servedRoutes(routes)].sort((a, b) => a.function.span.start - b.function.span.start)) {
    const {decl} = route.function
    const span: Span = decl.kind === 'http' ? decl.path : route.function.span
    if (decl.kind === 'http') checkPath(decl.path.text, span, diagnostics)
    const key = `${route.method} ${decl.kind === 'http' ? shapeOf(route.path) : route.path}`
    const other = seen.get(key)
    // Two queries with one name are reported for GET.
    if (other !== undefined && !(route.kind === 'query' && route.method === 'POST' && other.kind === 'query'))
      diagnostics.report(
        'typecheck.duplicate_route',
        span,
        `Route ${route.method} ${route.path} is already declared.`,
        {
          related: [{...other.function.span, message: 'first declared'}],
        },
      )
    else seen.set(key, other ?? route)
  }
}

/** A path without its placeholder names. */
const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}').replace(/(.)\/$/, '$1')

function checkPath(path: string, span: Span, diagnostics: Diagnostics): void {
  const error = pathError(path)
  if (error !== undefined) diagnostics.report('typecheck.route_path', span, `Route path "${path}" ${error}.`)
}

function pathError(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must start with /'
  const segments = path.slice(1).split('/')
  if (segments.some((segment, i) => segment === '' && (i < segments.length - 1 || segments.length > 2) && path !== '/'))
    return 'has an empty segment'
  // Clients resolve the segments . and .., and differ in what they encode with %.
  const strange = segments.find(
    (segment) => !/^(\{[A-Za-z_]\w*\}|:[A-Za-z_]\w*|(?!\.{1,2}$)[\w.~!$&'()+,;=@-]*)$/.test(segment),
  )
  if (strange !== undefined)
    return /[{:]/.test(strange)
      ? `contains the invalid segment "${strange}"; a placeholder must be an entire segment, such as {id}`
      : `contains the invalid segment "${strange}"; use letters, digits, - and _`
  const names = placeholders(path)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  return twice === undefined ? undefined : `uses the placeholder ${twice} twice`
}
