import {SvcError} from '../errors/index.js'

/** Delivery plane of each route. */
export const planeOf = {
  local: 'local_ephemeral',
  db: 'local_durable',
  mesh: 'remote_mesh',
} as const

/** A route as specified on the wire. */
export type Route = keyof typeof planeOf
/** Plane of a delivery. A broadcast is delivered to the inboxes of the route `local` but has a plane of its own. */
export type DeliveryPlane = (typeof planeOf)[Route] | 'broadcast'

export const routes = Object.keys(planeOf) as readonly Route[]

/** Inboxes to read: `merged` combines all available ones. */
export const inboxSources = ['merged', ...routes] as const
export type InboxSource = (typeof inboxSources)[number]

/** Routes within this machine. */
export const openRoutes = ['local', 'db'] as const satisfies readonly Route[]
export type OpenRoute = (typeof openRoutes)[number]

/** Sources with messages of this machine. */
export type OpenSource = Exclude<InboxSource, 'mesh'>

/** The local routes that a source includes. */
export const routesOf = (source: OpenSource): readonly OpenRoute[] => (source === 'merged' ? openRoutes : [source])

/** Parses one of several words, case-insensitively. @throws usage */
export function parseWord<T extends string>(word: string, words: readonly T[], what: string): T {
  const found = words.find((candidate) => candidate === word.trim().toLowerCase())
  if (found !== undefined) return found
  throw new SvcError('usage', {
    reason: `${JSON.stringify(word)} is not a ${what}. Expected one of: ${words.join(', ')}.`,
  })
}
