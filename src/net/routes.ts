import type {FastifyInstance} from 'fastify'

/** Gives the methods that some route takes at a path: what tells 405 from 404. Call it before routes are added. */
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

/** `/v1/models/:id` matches one step for each parameter; `*` matches the rest. */
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
