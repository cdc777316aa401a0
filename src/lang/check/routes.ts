import type {Diagnostics} from '../diagnostics/index.js'
import type {EndpointKind, HttpDecl, Name} from '../syntax/index.js'
import type {FunctionType, Route} from './ir.js'

const prefixes = {query: '/api/query/', mutation: '/api/mutation/', server: '/api/'} as const

/** The route of an endpoint. */
export const endpointRoute = (kind: EndpointKind, made: FunctionType): Route => ({
  kind,
  method: kind === 'query' ? 'GET' : 'POST',
  path: prefixes[kind] + made.name,
  function: made,
})

/** A declared route. */
export const httpRoute = ({method, path}: HttpDecl, made: FunctionType): Route => ({
  kind: 'http',
  method: method.toUpperCase() as Route['method'],
  path: path.text.replace(/:(\w+)(?=\/|$)/g, '{$1}'),
  function: made,
})

/** The routes, first those of endpoints. */
export const endpointsFirst = (routes: readonly Route[]): readonly Route[] => {
  const declared = routes.filter(({kind}) => kind === 'http')
  return declared.length === 0 ? routes : [...routes.filter(({kind}) => kind !== 'http'), ...declared]
}

/** A query with parameters is called by POST, too, because its arguments need not fit into a URL. */
const isPosted = ({kind, function: {params}}: Route) => kind === 'query' && params.length > 0

/** The routes, and at the end those of queries by POST. */
export const servedRoutes = (routes: readonly Route[]): readonly Route[] => [
  ...routes,
  ...routes.filter(isPosted).map((route): Route => ({...route, method: 'POST'})),
]

/** @param routes in source order, so that the later duplicate is reported */
export function checkRoutes(routes: readonly Route[], diagnostics: Diagnostics): void {
  const seen = new Map<string, Route>()
  for (const route of routes) {
    const {span} = route.function
    const place = route.kind === 'http' ? shapeOf(route.path) : route.path
    for (const method of isPosted(route) ? (['GET', 'POST'] as const) : [route.method]) {
      const key = `${method} ${place}`
      const other = seen.get(key)
      if (other === undefined) seen.set(key, route)
      // Two queries with one name are reported for GET.
      else if (route.kind !== 'query' || method === 'GET' || other.kind !== 'query')
        diagnostics.report('typecheck.duplicate_route', span, `Route ${method} ${route.path} is already declared.`, {
          related: [{...other.function.span, message: 'first declared'}],
        })
    }
  }
}

/** A path without its placeholder names. */
const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}').replace(/(.)\/$/, '$1')

/** The names of the placeholders `{id}` and `:id` in a path. */
export const placeholders = (path: string): string[] =>
  path.split('/').flatMap((segment) => /^(?:\{(\w+)\}|:(\w+))$/.exec(segment)?.slice(1).find(Boolean) ?? [])

/** Checks the path of a declared route. */
export function checkPath(path: Name, diagnostics: Diagnostics): void {
  const {text} = path
  const error = pathError(text)
  if (error !== undefined) diagnostics.report('typecheck.route_path', path, `Route path "${text}" ${error}.`)
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
