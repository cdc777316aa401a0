/** Maximum number of attempts per call. */
export const maxAttempts = 4
/** Total time of all attempts, as a multiple of the timeout of one request. */
export const deadlineFactor = 3

const firstDelayMs = 500
const maxDelayMs = 30_000
/** A request with a longer Retry-After is not retried, ms. */
const maxRetryAfterMs = 60_000

const transientStatuses = new Set([408, 429, 502, 503, 504])

export const isTransientStatus = (status: number): boolean => transientStatuses.has(status)

const transientErrors =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENETDOWN|EAI_AGAIN|ENOTFOUND|UND_ERR_(SOCKET|(CONNECT|HEADERS|BODY)_TIMEOUT))$/

/** True for network errors that may be temporary. Protocol and certificate errors are permanent. */
export const isTransientFault = (code: string): boolean => transientErrors.test(code)

const errorsBeforeSending = /^(ECONNREFUSED|E(HOST|NET)UNREACH|ENETDOWN|EAI_AGAIN|ENOTFOUND|UND_ERR_CONNECT_TIMEOUT)$/

/** True if a request may have arrived despite a network error. */
export const mayHaveArrived = (code: string): boolean => !errorsBeforeSending.test(code)

/** True if the status comes from a gateway, which does not know the outcome of the request. */
export const isOfGateway = (status: number): boolean => status === 502 || status === 504

/**
 * Delay before a retry: without Retry-After a random delay up to a doubling bound (full jitter), with it slightly more
 * than requested. Both spread the retries of clients that failed at the same time.
 * @param failed number of failed attempts
 * @param random number in [0, 1)
 * @returns ms; undefined if the delay would be too long
 */
export function retryDelayMs(failed: number, retryAfterMs: number | undefined, random: number): number | undefined {
  if (retryAfterMs === undefined) return random * Math.min(maxDelayMs, firstDelayMs * 2 ** (failed - 1))
  return retryAfterMs <= maxRetryAfterMs ? retryAfterMs * (1 + random / 10) + 2 : undefined
}

/**
 * Parses `Retry-After`, in seconds or as a date on the server's clock. @returns ms
 * @param date Date header of the same response
 */
export function readRetryAfter(
  header: string | undefined,
  {date, nowMs}: {date: string | undefined; nowMs: number},
): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const until = readDate(text)
  return until === undefined ? undefined : Math.max(0, until - (readDate(date) ?? nowMs))
}

/** Parses a header with an HTTP date. @returns Unix ms */
export function readDate(header: string | undefined): number | undefined {
  // Date.parse also accepts many strings that are not HTTP dates.
  const ms = /^[a-z]{3,9},? /i.test(header ?? '') ? Date.parse(header ?? '') : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
