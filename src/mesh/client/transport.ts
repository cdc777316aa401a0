import type {Agent, Dispatcher} from 'undici'
import {SvcError} from '../../errors/index.js'
import {connectionFault, trustOptions} from '../../net/index.js'

/** One request, as it goes out. */
export interface Outgoing {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  /** JSON. */
  body: string | undefined
  /** Longest that the whole exchange may take. */
  timeoutMs: number
  signal: AbortSignal | undefined
}

export interface Answer {
  status: number
  /** The first of each name. */
  headers: Readonly<Record<string, string | undefined>>
  text: string
}

/** An exchange that came to no answer, or to none that could be read to its end. */
export class ExchangeFault extends Error {
  override readonly cause: SvcError
  /** Of the answer that had begun; undefined where none had. */
  readonly status: number | undefined
  /** Of the fault of the network; empty where it was none. */
  readonly code: string

  constructor(cause: SvcError, {status, code}: {status: number | undefined; code: string}) {
    super(cause.message)
    this.cause = cause
    this.status = status
    this.code = code
  }
}

/** Sends requests over connections that are kept for the next one. */
export interface Transport {
  /** @throws ExchangeFault; what the signal was aborted with */
  exchange(outgoing: Outgoing): Promise<Answer>
  close(): Promise<void>
}

/** Of a refusal this much is read, bytes. */
const longestRefusal = 64 << 10
const longestConnectMs = 15_000

/**
 * A transport on undici, which is loaded with the first request. No redirect is followed: a token is for one address.
 * @param maxAnswerBytes largest answer that is read
 */
export function createTransport(maxAnswerBytes: number): Transport {
  let loading: Promise<{agent: Agent; send: typeof import('undici').request}> | undefined
  const load = async () => {
    const {Agent, request} = await import('undici')
    // The whole exchange has a limit of its own; this one ends a connection that nobody waits for any more.
    const connect = {timeout: longestConnectMs, ...trustOptions()}
    const agent = new Agent({connect, headersTimeout: 0, bodyTimeout: 0})
    return {agent, send: request}
  }

  return {
    async exchange({url, timeoutMs, signal, body, ...request}) {
      signal?.throwIfAborted()
      loading ??= load()
      const {agent: dispatcher, send} = await loading
      const limit = new AbortController()
      const isTooLate = () => limit.signal.reason === tooLate
      const timer = setTimeout(() => limit.abort(tooLate), timeoutMs)
      const giveUp = () => limit.abort(signal?.reason)
      signal?.addEventListener('abort', giveUp, {once: true})
      let answered: Dispatcher.ResponseData | undefined
      try {
        signal?.throwIfAborted()
        answered = await send(url, {dispatcher, ...request, body: body ?? null, signal: limit.signal})
        const text = await read(answered, {limit: maxAnswerBytes, url, signal})
        return {status: answered.statusCode, headers: firstOf(answered.headers), text}
      } catch (error) {
        signal?.throwIfAborted()
        const status = answered?.statusCode
        if (isTooLate())
          throw new ExchangeFault(new SvcError('timeout', {url, ms: Math.round(timeoutMs)}), {
            status,
            code: 'ETIMEDOUT',
          })
        throw faultOf(error, url, status)
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
      }
    },
    async close() {
      const {agent} = (await loading) ?? {}
      if (agent !== undefined && !agent.destroyed) await agent.destroy()
    },
  }
}

const tooLate = new Error('too late')

const firstOf = (headers: Dispatcher.ResponseData['headers']) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()[0]]))

interface Reading {
  /** Bytes. */
  limit: number
  url: string
  signal: AbortSignal | undefined
}

/**
 * What an answer says. A refusal is one by its status alone: of a text that breaks off there is what had come.
 * @throws response_too_large
 */
async function read({statusCode, body}: Dispatcher.ResponseData, {limit, url, signal}: Reading): Promise<string> {
  const isRefusal = statusCode >= 300
  const pieces: Buffer[] = []
  let length = 0
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      length += piece.length
      pieces.push(piece)
      // To leave the loop is to hang up.
      if (isRefusal && length >= longestRefusal) break
      if (!isRefusal && length > limit) throw new SvcError('response_too_large', {url, limit})
    }
  } catch (error) {
    if (!isRefusal || signal?.aborted) throw error
  }
  return Buffer.concat(pieces).toString('utf8')
}

function faultOf(error: unknown, url: string, status: number | undefined): ExchangeFault {
  if (error instanceof SvcError) return new ExchangeFault(error, {status, code: ''})
  const {code = ''} = error as NodeJS.ErrnoException
  return new ExchangeFault(connectionFault(url, error), {status, code})
}
