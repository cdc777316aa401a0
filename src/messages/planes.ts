import {SvcError} from '../errors/index.js'

/** Where a message goes, as a caller says it, and what that plane is called. */
export const planeOf = {
  local: 'local_ephemeral',
  db: 'local_durable',
  mesh: 'remote_mesh',
} as const

/** The word of the wire. */
export type Route = keyof typeof planeOf
/** A broadcast goes to the inboxes of the route `local`, and has a plane of its own. */
export type DeliveryPlane = (typeof planeOf)[Route] | 'broadcast'

export const routes = Object.keys(planeOf) as readonly Route[]

/** Which inboxes are read: `merged` is every one there is. */
export const inboxSources = ['merged', ...routes] as const
export type InboxSource = (typeof inboxSources)[number]

/** Routes within this machine. */
export type OpenRoute = Exclude<Route, 'mesh'>

/** Sources that have messages of this machine. */
export type OpenSource = Exclude<InboxSource, 'mesh'>

/** The routes within this machine whose messages a source has. */
export const routesOf = (source: OpenSource): readonly OpenRoute[] => (source === 'merged' ? ['local', 'db'] : [source])

/** One of some words, in any case. @throws usage */
export function parseWord<T extends string>(word: string, words: readonly T[], what: string): T {
  const found = words.find((candidate) => candidate === word.trim().toLowerCase())
  if (found !== undefined) return found
  throw new SvcError('usage', {reason: `${JSON.stringify(word)} is no ${what}; there are ${words.join(', ')}.`})
}
