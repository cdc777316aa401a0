import type {BulletinFilter} from '../messages/index.js'
import {type DaemonNotification, daemonNotifications, type WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {EventFilter} from '../tasks/index.js'
import type {Request} from './envelope.js'

/** Events per page: few, because an event may contain the description of a task. */
const pageSize = 32

/** What a subscription delivers: events, or entries of the bulletin board. */
export type Feed = 'event' | 'bulletin'

interface FeedReader {
  /** Member of the notification. */
  member: string
  /** The next items as JSON, with the ids of their events. */
  read(modules: WorkspaceModules, orchestrator: Orchestrator, filter: EventFilter): {id: number; json: string}[]
}

const readers: Readonly<Record<Feed, FeedReader>> = {
  event: {
    member: 'event',
    read: ({tasks}, orchestrator, filter) =>
      tasks.readEvents(orchestrator, filter).map((event) => ({id: event.id, json: JSON.stringify(event)})),
  },
  bulletin: {
    member: 'entry',
    read: ({messages}, orchestrator, filter) =>
      messages
        .readBulletin(orchestrator, filter as BulletinFilter)
        .map((entry) => ({id: entry.event_id, json: JSON.stringify(entry)})),
  },
}

/**
 * Subscription to a feed. It stores only a position and reads from the store, so that a slow client falls behind but loses
 * nothing, except old entries of the bulletin board.
 */
export class Subscription {
  readonly id: string
  readonly #feed: FeedReader
  readonly #filter: EventFilter
  readonly #line: (item: string) => string
  #since: number

  /** @param request subscribing request, which determines the form of the events and, in the wrapped form, their id */
  constructor(
    id: string,
    {form, id: requestId}: Pick<Request, 'form' | 'id'>,
    feed: Feed,
    filter: EventFilter & {since: number},
  ) {
    this.id = id
    this.#feed = readers[feed]
    this.#filter = filter
    this.#since = filter.since
    const {method} = daemonNotifications.find(({type}) => type === feed) as DaemonNotification
    const members = (item: string) => `"subscription_id":${JSON.stringify(id)},"${this.#feed.member}":${item}`
    this.#line =
      form === 'json-rpc'
        ? (item) => `{"jsonrpc":"2.0","method":"${method}","params":{${members(item)}}}\n`
        : (item) => `{"id":${JSON.stringify(requestId)},"payload":{"type":"${feed}",${members(item)}}}\n`
  }

  /** True if there may be events that are not sent yet. */
  isBehind(last: number): boolean {
    return this.#since < last
  }

  /** Reads the next page as lines. @param last id of the latest known event */
  read(modules: WorkspaceModules, orchestrator: Orchestrator, last: number): string {
    const items = this.#feed.read(modules, orchestrator, {...this.#filter, since: this.#since, limit: pageSize})
    // A short page contains all matching events up to `last`.
    this.#since = Math.max(items.at(-1)?.id ?? 0, items.length < pageSize ? last : 0, this.#since)
    return items.map(({json}) => this.#line(json)).join('')
  }
}
