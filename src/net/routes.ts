import type {FastifyInstance} from 'fastify'

/** Collects the methods of each path, to distinguish 405 from 404. Must be called before routes are added. */
export function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: {method: string; pattern: RegExp}[] = []
  app.addHook('onRoute', ({method, url}) => {
    const pattern = toPattern(url)
    for (const one of [method].flat()) routes.push({method: one, pattern})
  })
  return (path) => {
    const decoded = decode(path)
    return [...new Set(routes.filter(({pattern}) => pattern.test(decoded)).map(({method}) => method))].sort()
  }
}

/** Converts a route path to a pattern: a parameter matches one path segment, `*` matches the remainder. */
function toPattern(url: string): RegExp {
  const source = url
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:[^/]+/g, '[^/]+')
    .replace(/\*/g, '.*')
  return new RegExp(`^${source.replace(/\/$/, '')}/?$`)
}

function decode(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
