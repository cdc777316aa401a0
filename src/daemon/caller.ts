import type {OperationContext} from '../operations/index.js'
import type {EventFilter} from '../tasks/index.js'

/** The connection of a request, as far as methods about the connection use it. */
export interface Caller {
  /**
   * Checks the token where one is required.
   * @throws daemon_token_refused
   */
  authenticate(token: string | undefined, client: string | undefined): void
  /**
   * Sends events from now on. Returns the id of the subscription.
   * @throws subscriptions_exhausted
   */
  subscribe(filter: EventFilter & {since: number}): string
  /** @throws subscription_not_found */
  unsubscribe(id: string): void
  /** Stops the daemon once this request is answered. */
  shutDown(): void
}

/** What the methods of one connection work with. */
export interface CallContext extends OperationContext {
  readonly caller: Caller
}
