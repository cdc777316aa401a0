import {setTimeout as sleep} from 'node:timers/promises'
import {Agent, type Dispatcher, request} from 'undici'
import {SvcError} from '../errors/index.js'
import {connectionFault, trustOptions} from './trust.js'

export interface HttpClientOptions {
  /** Such as `http://127.0.0.1:11435`, without a trailing slash. */
  baseUrl: string
  /** Sent as a bearer token; never part of an error. */
  token?: string | undefined
  connectTimeoutMs?: number
  /** Timeout of the headers, and between two parts of the body, ms. */
  idleTimeoutMs?: number
  /** Maximum body read into memory, bytes. */
  maxBodyBytes?: number
  /** Maximum number of attempts if the server returns 429 or 503. */
  attempts?: number
}

export interface HttpRequest {
  method?: Dispatcher.HttpMethod
  /** Sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

export interface HttpResponse<T> {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: T
}

export interface HttpClient {
  readonly baseUrl: string
  /**
   * Sends a request and parses the JSON response.
   * @throws http_status (with the status as a parameter), unreachable, timeout, response_too_large,
   *   document_unparsable; the reason of `signal`
   */
  json<T>(path: string, request?: HttpRequest): Promise<HttpResponse<T>>
  /** Sends a request and returns the body as a stream. @throws like `json` */
  stream(path: string, request?: HttpRequest): Promise<HttpResponse<AsyncIterable<Uint8Array>>>
  close(): Promise<void>
}

const retried = new Set([429, 503])
const maxWaitMs = 30_000
const detailBytes = 64 << 10

/** Creates a client of a server. Its requests share keep-alive connections. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const {
    baseUrl,
    token,
    connectTimeoutMs = 5000,
    idleTimeoutMs = 60_000,
    maxBodyBytes = 64 << 20,
    attempts = 4,
  } = options
  const dispatcher = new Agent({
    connect: {timeout: connectTimeoutMs, ...trustOptions()},
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  })

  const limits = {connectTimeoutMs, idleTimeoutMs}

  async function sendOnce(url: string, {method = 'GET', body, headers = {}, signal}: HttpRequest) {
    try {
      return await request(url, {
        dispatcher,
        method,
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : {'content-type': 'application/json'}),
          ...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      })
    } catch (error) {
      throw asNetworkError(error, url, limits, signal)
    }
  }

  /** Reads the message of an error response, with the token redacted, which some servers echo. */
  async function refusal(response: Dispatcher.ResponseData, url: string, signal: AbortSignal | undefined) {
    const text = await read(response.body, detailBytes, url).catch(() => '')
    signal?.throwIfAborted()
    const detail = sentenceOf(text)
    return token === undefined ? detail : detail?.replaceAll(token, '[redacted]')
  }

  async function send(path: string, http: HttpRequest) {
    const url = baseUrl + path
    for (let attempt = 1; ; attempt++) {
      const response = await sendOnce(url, http)
      const {statusCode: status, headers} = response
      if (status < 400) return {url, response}
      const detail = await refusal(response, url, http.signal)
      if (!retried.has(status) || attempt >= attempts) throw new SvcError('http_status', {url, status, detail})
      await pause(waitMs(attempt, headers['retry-after']), http.signal)
    }
  }

  return {
    baseUrl,
    async json<T>(path: string, http: HttpRequest = {}) {
      const {url, response} = await send(path, http)
      const text = await read(response.body, maxBodyBytes, url).catch((error: unknown) => {
        throw asNetworkError(error, url, limits, http.signal)
      })
      try {
        return {
          status: response.statusCode,
          headers: response.headers,
          body: (text === '' ? undefined : JSON.parse(text)) as T,
        }
      } catch (error) {
        throw new SvcError('document_unparsable', {subject: url, reason: (error as Error).message}, {cause: error})
      }
    },
    async stream(path, http = {}) {
      const {url, response} = await send(path, http)
      const body = pieces(response.body, url, limits, http.signal)
      return {status: response.statusCode, headers: response.headers, body}
    },
    close: async () => {
      if (!dispatcher.closed) await dispatcher.close()
    },
  }
}

/** Delay before a retry: `Retry-After` in seconds if given, else 250 ms doubled per attempt with up to 50 % jitter. */
export function waitMs(attempt: number, retryAfter?: string | string[] | undefined, random = Math.random()): number {
  const [header = ''] = [retryAfter].flat()
  const seconds = header.trim() === '' ? Number.NaN : Number(header)
  if (Number.isFinite(seconds) && seconds >= 0) return Math.min(seconds * 1000, maxWaitMs)
  return Math.min(250 * 2 ** (attempt - 1) * (1 + random / 2), maxWaitMs)
}

async function* pieces(body: AsyncIterable<Buffer>, url: string, limits: TimeLimits, signal?: AbortSignal) {
  try {
    yield* body
  } catch (error) {
    throw asNetworkError(error, url, limits, signal)
  }
}

async function read(body: AsyncIterable<Buffer>, limit: number, url: string): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > limit) throw new SvcError('response_too_large', {url, limit})
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The sentence of an error body in any of the shapes servers use, else its first line. */
function sentenceOf(text: string): string | undefined {
  try {
    const body = JSON.parse(text)
    const sentence = body?.error?.message ?? body?.detail ?? body?.message ?? body?.error
    if (typeof sentence === 'string') return firstLine(sentence)
  } catch {
    // Not JSON: use the text itself.
  }
  return firstLine(text)
}

/** First line without its full stop, to embed it in a sentence. */
const firstLine = (text: string) => text.split(/\r?\n/)[0]?.slice(0, 200).replace(/\.$/, '') || undefined

interface TimeLimits {
  connectTimeoutMs: number
  idleTimeoutMs: number
}

function asNetworkError(error: unknown, url: string, limits: TimeLimits, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof SvcError) return error
  const {code} = error as NodeJS.ErrnoException
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new SvcError('timeout', {url, ms: limits.connectTimeoutMs}, {cause: error})
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return new SvcError('timeout', {url, ms: limits.idleTimeoutMs}, {cause: error})
  return connectionFault(url, error)
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, {signal}).catch((error: unknown) => {
    throw signal?.reason ?? error
  })
}
