import {daemonNotifications, type WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {EventFilter, EventRecord} from '../tasks/index.js'
import type {Request} from './envelope.js'

/** Events per page: few, because an event may contain the description of a task. */
const pageSize = 32

const [{method: eventMethod, type: eventType}] = daemonNotifications as [(typeof daemonNotifications)[number]]

/**
 * Subscription to events. It stores only a position and reads events from the store, so that a slow client falls behind
 * but loses nothing.
 */
export class Subscription {
  readonly id: string
  readonly #filter: EventFilter
  readonly #line: (event: string) => string
  #since: number

  /** @param request subscribing request, which determines the form of the events and, in the wrapped form, their id */
  constructor(id: string, {form, id: requestId}: Pick<Request, 'form' | 'id'>, filter: EventFilter & {since: number}) {
    this.id = id
    this.#filter = filter
    this.#since = filter.since
    const subscription = JSON.stringify(id)
    this.#line =
      form === 'json-rpc'
        ? (event) =>
            `{"jsonrpc":"2.0","method":"${eventMethod}","params":{"subscription_id":${subscription},"event":${event}}}\n`
        : (event) =>
            `{"id":${JSON.stringify(requestId)},"payload":{"type":"${eventType}","subscription_id":${subscription},"event":${event}}}\n`
  }

  /** True if there may be events that are not sent yet. */
  isBehind(last: number): boolean {
    return this.#since < last
  }

  /** Reads the next page as lines. @param last id of the latest known event */
  read(modules: WorkspaceModules, orchestrator: Orchestrator, last: number): string {
    const events: EventRecord[] = modules.tasks.readEvents(orchestrator, {
      ...this.#filter,
      since: this.#since,
      limit: pageSize,
    })
    // A short page contains all matching events up to `last`.
    this.#since = Math.max(events.at(-1)?.id ?? 0, events.length < pageSize ? last : 0, this.#since)
    return events.map((event) => this.#line(JSON.stringify(event))).join('')
  }
}
