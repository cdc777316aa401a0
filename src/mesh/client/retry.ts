/** How often a request is sent at most. */
export const mostAttempts = 4
/** A request and what repeats it take no longer than this many times what one may take. */
export const deadlineFactor = 3

const firstDelayMs = 500
const longestDelayMs = 30_000
/** A control plane that wants to be left alone for longer is not waited for. */
const longestRetryAfterMs = 60_000

const transientStatuses = new Set([408, 429, 502, 503, 504])

/** Whether a refusal may pass by itself. */
export const isTransientStatus = (status: number): boolean => transientStatuses.has(status)

const transientFaults =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENETDOWN|EAI_AGAIN|ENOTFOUND|UND_ERR_(SOCKET|(CONNECT|HEADERS|BODY)_TIMEOUT))$/

/**
 * Whether a fault of the network may pass by itself, by its code: what does not speak HTTP, or whose certificate is not
 * trusted, will not.
 */
export const isTransientFault = (code: string): boolean => transientFaults.test(code)

const faultsBeforeSending = /^(ECONNREFUSED|E(HOST|NET)UNREACH|ENETDOWN|EAI_AGAIN|ENOTFOUND|UND_ERR_CONNECT_TIMEOUT)$/

/** Whether a request may have been done though no answer came, by the code of the fault: all but those never sent. */
export const mayHaveArrived = (code: string): boolean => !faultsBeforeSending.test(code)

/** Whether a refusal is that of somebody in between, who does not know what became of the request. */
export const isOfGateway = (status: number): boolean => status === 502 || status === 504

/**
 * How long to wait before a request is sent again. Without a word of the control plane it is anything up to a bound
 * that doubles (full jitter), so that clients which failed together do not come back together; with one a little more
 * than was asked for, for the same reason.
 * @param failed how often it has failed
 * @param random 0 to 1
 * @returns ms; undefined where it is not worth waiting
 */
export function retryDelayMs(failed: number, retryAfterMs: number | undefined, random: number): number | undefined {
  if (retryAfterMs === undefined) return random * Math.min(longestDelayMs, firstDelayMs * 2 ** (failed - 1))
  return retryAfterMs <= longestRetryAfterMs ? retryAfterMs * (1 + random / 10) + 2 : undefined
}

/**
 * What `Retry-After` asks for, ms: seconds, or a date, which is one of the clock of the server.
 * @param date header Date of the same answer
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

/** A header with a date of HTTP, Unix ms. */
export function readDate(header: string | undefined): number | undefined {
  // Much else than a date can be parsed as one.
  const ms = /^[a-z]{3,9},? /i.test(header ?? '') ? Date.parse(header ?? '') : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
