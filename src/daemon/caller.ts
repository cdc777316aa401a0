import type {OperationContext} from '../operations/index.js'
import type {EventFilter} from '../tasks/index.js'
import type {Feed} from './subscription.js'

/** Connection of a request, for methods that act on the connection. */
export interface Caller {
  /**
   * Checks the token, if one is required.
   * @throws daemon_token_refused
   */
  authenticate(token: string | undefined, client: string | undefined): void
  /**
   * Subscribes the connection to a feed. @returns id of the subscription
   * @throws subscriptions_exhausted
   */
  subscribe(feed: Feed, filter: EventFilter & {since: number}): string
  /** @throws subscription_not_found */
  unsubscribe(id: string): void
  /** Stops the daemon after this request is answered. */
  shutDown(): void
}

export interface CallContext extends OperationContext {
  readonly caller: Caller
}
