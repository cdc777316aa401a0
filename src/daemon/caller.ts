import type {OperationContext} from '../operations/index.js'
import type {EventFilter} from '../tasks/index.js'

/** Who calls, as far as a method of the daemon itself has to do with it. */
export interface Caller {
  /**
   * Lets the caller in, where it has to show a token first.
   * @throws daemon_token_refused
   */
  greet(token: string | undefined, client: string | undefined): void
  /**
   * Sends events from now on; gives the id of the subscription.
   * @throws subscriptions_exhausted
   */
  subscribe(filter: EventFilter & {since: number}): string
  /** @throws subscription_not_found */
  unsubscribe(id: string): void
  /** Ends the daemon, once this request is answered. */
  shutDown(): void
}

/** What the methods of one connection work with. */
export interface CallContext extends OperationContext {
  readonly caller: Caller
}
