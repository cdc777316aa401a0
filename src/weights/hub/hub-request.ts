import {setTimeout as sleep} from 'node:timers/promises'
import type {Dispatcher} from 'undici'
import {SvcError} from '../../errors/index.js'

export interface HubOptions {
  /** Such as `https://huggingface.co`. */
  endpoint: string
  /** Sent only to the endpoint. */
  token?: string | undefined
  cacheFolder: string
  offline: boolean
  /** Names of the flag, variables and settings that disable downloads. */
  offlineBy?: readonly string[]
  /** Maximum number of attempts per request. */
  attempts: number
  /** Delay between two attempts, ms. */
  retryDelayMs: number
  onRetry?: ((retry: {url: string; attempt: number; reason: string}) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Whether a retry may succeed. */
const isTransient = (status: number) => status === 408 || status === 429 || status >= 500

/** Whether a storage server has refused a signed URL, which may have expired. The hub gives reasons, and signs a new one. */
const isExpired = ({statusCode, headers}: Dispatcher.ResponseData) =>
  statusCode === 403 && headers['x-error-code'] === undefined

const redirects = new Set([301, 302, 303, 307, 308])
const maxRedirects = 5
/** Maximum delay that `Retry-After` can cause, ms. */
const maxWaitMs = 60_000
/** Timeout for the headers and between two chunks, ms. */
const idleMs = 30_000

/** A failure that can be retried. */
export class Transient extends Error {
  readonly waitMs: number | undefined
  readonly failure: SvcError

  constructor(failure: SvcError, waitMs?: number) {
    super(failure.message, {cause: failure})
    this.failure = failure
    this.waitMs = waitMs
  }
}

/**
 * Retries work that fails with `Transient`, up to `attempts` times.
 * @throws the failure of the last attempt; the reason of the signal
 */
export async function withRetries<T>(url: string, options: HubOptions, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!(error instanceof Transient)) throw error
      if (attempt >= options.attempts) throw error.failure
      options.onRetry?.({url, attempt, reason: error.message})
      const waitMs = Math.min(maxWaitMs, Math.max(options.retryDelayMs, error.waitMs ?? 0))
      await sleep(waitMs, undefined, options.signal === undefined ? {} : {signal: options.signal}).catch(() => {
        throw options.signal?.reason
      })
    }
  }
}

/**
 * Sends a GET request and follows redirects. The token is only sent to the origin of the endpoint.
 * @throws Transient, hub_answer_invalid; the reason of the signal
 */
export async function hubGet(
  url: string,
  headers: Readonly<Record<string, string>>,
  options: HubOptions,
): Promise<Dispatcher.ResponseData> {
  const {endpoint, token, signal} = options
  // Loaded lazily, because most users of this module download nothing.
  const {request} = await import('undici')
  let at = new URL(url)
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const own = at.origin === new URL(endpoint).origin
    const response = await request(at, {
      headers: {
        'user-agent': 'svc',
        ...headers,
        ...(own && token !== undefined ? {authorization: `Bearer ${token}`} : {}),
      },
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      ...(signal === undefined ? {} : {signal}),
    }).catch(async (error: unknown) => {
      signal?.throwIfAborted()
      throw await unreachable(options, error)
    })
    const {location} = response.headers
    if (redirects.has(response.statusCode) && typeof location === 'string') {
      await response.body.dump()
      const next = URL.canParse(location, at.href) ? new URL(location, at) : undefined
      if (next?.protocol !== 'https:' && next?.protocol !== 'http:')
        throw new SvcError('hub_answer_invalid', {endpoint, reason: 'it redirects to an invalid URL'})
      at = next
      continue
    }
    if (isTransient(response.statusCode) || (!own && isExpired(response))) {
      await response.body.dump()
      const failure = new SvcError('hub_failed', {endpoint, status: response.statusCode})
      throw new Transient(failure, retryAfterMs(response.headers['retry-after']))
    }
    return response
  }
  throw new SvcError('hub_answer_invalid', {endpoint, reason: `it redirects more than ${maxRedirects} times`})
}

/**
 * The body of a response in chunks. Errors of the consumer are not reported as connection errors.
 * @throws Transient; the reason of the signal
 */
export async function* bodyOf({body}: Dispatcher.ResponseData, options: HubOptions): AsyncGenerator<Buffer> {
  try {
    for await (const piece of body as AsyncIterable<Buffer>) yield piece
  } catch (error) {
    options.signal?.throwIfAborted()
    throw await unreachable(options, error)
  }
}

/** The error for a failed connection, without addresses. */
async function unreachable({endpoint}: HubOptions, error: unknown): Promise<Error> {
  const {code, message} = error as NodeJS.ErrnoException
  const {connectionFault} = await import('../../net/index.js')
  const fault = connectionFault(endpoint, error)
  if (fault.code === 'certificate_untrusted') return fault
  const reason = code === 'ENOTFOUND' ? 'host name not found (ENOTFOUND)' : (code ?? message)
  return new Transient(new SvcError('hub_unreachable', {endpoint, reason}, {cause: error}))
}

function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined
  const seconds = Number(header)
  const waitMs = Number.isFinite(seconds) ? 1000 * seconds : Date.parse(header) - Date.now()
  return Number.isFinite(waitMs) && waitMs > 0 ? waitMs : undefined
}
