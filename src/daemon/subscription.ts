import {daemonNotifications, type WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {EventFilter, EventRecord} from '../tasks/index.js'
import type {Request} from './envelope.js'

/** Events that are read and written at once: few, since one may hold the description of a task. */
const pageSize = 32

const [{method: eventMethod, type: eventType}] = daemonNotifications as [(typeof daemonNotifications)[number]]

/**
 * Where somebody stands in the events. It holds a place and no events: whoever reads slowly falls behind in the store,
 * and misses nothing.
 */
export class Subscription {
  readonly id: string
  readonly #filter: EventFilter
  readonly #line: (event: string) => string
  #since: number

  /** @param request the one that subscribed: events have its form, and in the wrapped form its id */
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

  /** Whether there may be events that it has not had. */
  isBehind(last: number): boolean {
    return this.#since < last
  }

  /** The lines of the next page. @param last id of the latest event that is known of */
  read(modules: WorkspaceModules, orchestrator: Orchestrator, last: number): string {
    const events: EventRecord[] = modules.tasks.readEvents(orchestrator, {
      ...this.#filter,
      since: this.#since,
      limit: pageSize,
    })
    // Those of a short page up to the last one that was known before it was read are all that there are.
    this.#since = Math.max(events.at(-1)?.id ?? 0, events.length < pageSize ? last : 0, this.#since)
    return events.map((event) => this.#line(JSON.stringify(event))).join('')
  }
}
