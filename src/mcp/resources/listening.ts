import {logger} from '../../log/index.js'
import type {ResourceFeed, Watcher} from './feed.js'
import {parseUri, tasksUri} from './uri.js'

/** Watches the resources of open `subscriptions/listen` requests for one receiver of all their notifications. */
export class Listening {
  readonly #feed: ResourceFeed
  readonly #watcher: Watcher
  /** Watched URIs of each request. */
  readonly #uris = new Map<unknown, ReadonlySet<string>>()

  constructor(feed: ResourceFeed, watcher: Watcher) {
    this.#feed = feed
    this.#watcher = watcher
  }

  /** @param request identifies the request */
  async begin(request: unknown, params: unknown): Promise<void> {
    const uris = urisOf(params)
    this.#uris.set(request, uris)
    try {
      for (const uri of uris) {
        const name = parseUri(uri)
        if (name !== undefined) await this.#feed.subscribe(this.#watcher, name, uri)
      }
    } catch (error) {
      logger('mcp').warn({err: error}, 'cannot watch resources')
    }
  }

  stop(request: unknown): void {
    const uris = this.#uris.get(request)
    this.#uris.delete(request)
    for (const uri of uris ?? [])
      if (![...this.#uris.values()].some((others) => others.has(uri))) this.#feed.unsubscribe(this.#watcher, uri)
  }

  end(): void {
    this.#uris.clear()
    this.#feed.leave(this.#watcher)
  }
}

/** New tasks change the list of resources and the resource of recent tasks. */
function urisOf(params: unknown): ReadonlySet<string> {
  const {notifications = {}} = (params ?? {}) as {notifications?: Readonly<Record<string, unknown>>}
  const {resourceSubscriptions: uris, resourcesListChanged} = notifications ?? {}
  const watched = Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
  return new Set(resourcesListChanged === true ? [...watched, tasksUri] : watched)
}
