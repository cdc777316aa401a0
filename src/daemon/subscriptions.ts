import {isErrorOf, SvcError} from '../errors/index.js'
import type {EventFilter} from '../tasks/index.js'
import type {Request} from './envelope.js'
import type {Service} from './service.js'
import {type Feed, Subscription} from './subscription.js'

const maxSubscriptions = 64

export class Subscriptions {
  readonly #service: Pick<Service, 'base' | 'watch'>
  readonly #onEvents: () => void
  readonly #byId = new Map<string, Subscription>()
  #made = 0
  #stopListening: (() => void) | undefined

  /** @param onEvents called when there are new events, while there is a subscription */
  constructor(service: Pick<Service, 'base' | 'watch'>, onEvents: () => void) {
    this.#service = service
    this.#onEvents = onEvents
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0
  }

  /** True if a subscription may have events to send. */
  get isBehind(): boolean {
    const {last} = this.#service.watch
    return [...this.#byId.values()].some((subscription) => subscription.isBehind(last))
  }

  /** Adds a subscription. @returns its id @throws subscriptions_exhausted */
  add(request: Request, feed: Feed, filter: EventFilter & {since: number}): string {
    if (this.#byId.size >= maxSubscriptions) throw new SvcError('subscriptions_exhausted', {limit: maxSubscriptions})
    this.#stopListening ??= this.#service.watch.subscribe(this.#onEvents)
    const id = `s${++this.#made}`
    this.#byId.set(id, new Subscription(id, request, feed, filter))
    return id
  }

  /** @throws subscription_not_found */
  remove(id: string): void {
    if (!this.#byId.delete(id)) throw new SvcError('subscription_not_found', {subscription: id})
    if (this.isEmpty) this.#unlisten()
  }

  clear(): void {
    this.#byId.clear()
    this.#unlisten()
  }

  /** Yields the next page of each subscription that is behind, as lines. */
  *pages(): Generator<string, void, undefined> {
    const {
      base: {modules, orchestrator},
      watch: {last},
    } = this.#service
    for (const subscription of this.#byId.values()) {
      if (!subscription.isBehind(last)) continue
      try {
        yield subscription.read(modules, orchestrator, last)
      } catch (error) {
        // The page will be read with the next events.
        if (!isErrorOf(error, 'store_busy')) throw error
      }
    }
  }

  #unlisten(): void {
    this.#stopListening?.()
    this.#stopListening = undefined
  }
}
