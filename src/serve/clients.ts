import type {IncomingHttpHeaders} from 'node:http'
import type {FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import type {RequestClient} from '../llm/index.js'
import {hasBearerToken, hasProtocolToken, isSameSecret} from '../net/index.js'
import type {ClientKey} from './api-keys.js'
import {Budget} from './budget.js'

/** A holder of an API key, and what it may still use. */
export class Client {
  readonly name: string
  /** For the queue of a model. */
  readonly queued: RequestClient
  readonly requests: Budget | undefined
  readonly tokens: Budget | undefined
  #totalTokens = 0

  constructor({name, weight, requestsPerMinute, tokensPerMinute}: Omit<ClientKey, 'key'>, totalWeight: number) {
    this.name = name
    this.queued = {id: name, weight, share: weight / totalWeight}
    this.requests = requestsPerMinute === undefined ? undefined : new Budget(requestsPerMinute)
    this.tokens = tokensPerMinute === undefined ? undefined : new Budget(tokensPerMinute)
  }

  /** All tokens that were charged. */
  get totalTokens(): number {
    return this.#totalTokens
  }

  /** Time until it may send a generation request, ms. */
  get waitMs(): number {
    return Math.max(this.requests?.waitMs ?? 0, this.tokens?.waitMs ?? 0)
  }

  /** Charges a request. @throws rate_limited, token_budget_exhausted; then nothing is charged */
  admit(): void {
    const {requests, tokens} = this
    if (requests !== undefined && requests.waitMs > 0)
      throw new SvcError('rate_limited', {limit: requests.perMinute, within: 'minute'})
    if (tokens !== undefined && tokens.waitMs > 0)
      throw new SvcError('token_budget_exhausted', {limit: tokens.perMinute})
    requests?.charge(1)
  }

  chargeTokens(count: number): void {
    this.#totalTokens += count
    this.tokens?.charge(count)
  }
}

/** The holders of API keys; without keys, one client that all requests are of. */
export class Clients {
  readonly #keys: readonly {key: string; client: Client}[]
  readonly #anyone: Client | undefined
  readonly #assigned = new WeakMap<FastifyRequest, Client>()

  constructor(keys: readonly ClientKey[]) {
    const total = keys.reduce((sum, {weight}) => sum + weight, 0)
    this.#keys = keys.map(({key, ...rest}) => ({key, client: new Client(rest, total)}))
    this.#anyone = keys.length === 0 ? new Client({name: 'anyone', weight: 1}, 1) : undefined
  }

  /** Remembers whose a request is, while it is handled. */
  assign(request: FastifyRequest, client: Client): void {
    this.#assigned.set(request, client)
  }

  /** Undefined for a request without a client, such as one with the admin key. */
  assigned(request: FastifyRequest): Client | undefined {
    return this.#assigned.get(request)
  }

  get areRequired(): boolean {
    return this.#anyone === undefined
  }

  get all(): Client[] {
    return this.#anyone === undefined ? this.#keys.map(({client}) => client) : [this.#anyone]
  }

  /** The client whose key a request has as a bearer token, in `x-api-key` or as a subprotocol; undefined if it has none. */
  of(headers: IncomingHttpHeaders): Client | undefined {
    if (this.#anyone !== undefined) return this.#anyone
    // Each key is compared, so that the time does not depend on which one matches.
    return this.#keys.filter(({key}) => holdsKey(headers, key))[0]?.client
  }
}

/** Whether a request has a key as a bearer token, in `x-api-key` or as a subprotocol. */
export const holdsKey = (
  {authorization, 'x-api-key': header, 'sec-websocket-protocol': protocols}: IncomingHttpHeaders,
  key: string,
): boolean =>
  hasBearerToken(authorization, key) ||
  hasProtocolToken(protocols, key) ||
  (typeof header === 'string' && isSameSecret(header, key))
