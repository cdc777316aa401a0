import type {FastifyRequest} from 'fastify'
import type {WebSocket} from 'ws'
import {asAudioError, isErrorOf, SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import type {HttpApp} from '../net/index.js'
import type {LiveEvent, LiveSession, SpeechService} from '../speech/index.js'
import type {SpeechMetrics} from './metrics.js'

export const streamPath = '/api/audio/transcribe/stream'

/** Maximum size of a message, bytes. */
export const maxMessageBytes = 1 << 20
/** Maximum number of live sessions at once. */
const maxSessions = 32
/** Number of invalid messages after which the connection is closed. */
const maxInvalid = 10
/** Maximum output that waits for a slow client, bytes. */
const maxWaitingBytes = 1 << 20
/** Silence that ends an utterance of a continuous connection, ms. */
const endpointMs = 400

/** Close codes of WebSocket (RFC 6455). */
const Close = {normal: 1000, policy: 1008, tooBig: 1009, internal: 1011, shutdown: 1012} as const

interface StreamContext {
  service: SpeechService
  metrics: SpeechMetrics
  connections: Set<Connection>
}

/** Adds the WebSocket route for live audio. A request that cannot be accepted is refused before the upgrade. */
export function streamRoute(app: HttpApp, context: StreamContext): void {
  app.route({
    method: 'GET',
    url: streamPath,
    exposeHeadRoute: false,
    preHandler: async () => {
      if (context.connections.size >= maxSessions)
        throw new SvcError('overloaded', {reason: `${maxSessions} live sessions are already open.`})
      context.service.queue.refuseIfFull()
    },
    handler: () => {
      throw new SvcError('bad_request', {reason: 'This route accepts only WebSocket connections.'})
    },
    wsHandler: (socket, request) => {
      const connection = new Connection(socket, request, context)
      context.connections.add(connection)
      context.metrics.sessions++
      socket.once('close', () => {
        context.connections.delete(connection)
        context.metrics.sessions--
      })
      connection.start().catch((error: unknown) => connection.fail(error))
    },
  })
}

/** A live session over a WebSocket connection. */
export class Connection {
  readonly #socket: WebSocket
  readonly #context: StreamContext
  readonly #continuous: boolean
  readonly #language: string | undefined
  readonly #gone = new AbortController()
  #live: {session: LiveSession; close(): Promise<void>} | undefined
  /** A byte of a sample whose other byte has not arrived yet. */
  #odd: Buffer = Buffer.alloc(0)
  #invalid = 0

  constructor(socket: WebSocket, {query, id}: FastifyRequest, context: StreamContext) {
    const {continuous, language_hint: language} = query as Partial<Record<string, string>>
    this.#socket = socket
    this.#context = context
    this.#continuous = continuous === '1' || continuous === 'true'
    this.#language = language || undefined
    // An invalid frame: the library closes the connection with the code of the violation, and would log it as an error.
    socket.removeAllListeners('error')
    socket.on('error', (err) => logger('speech_server').info({err, id}, 'a connection failed'))
    socket.once('close', () => this.#gone.abort(new SvcError('interrupted', {})))
  }

  /** Loads the model if necessary, then handles messages in the order in which they arrive. */
  async start(): Promise<void> {
    const socket = this.#socket
    // Messages that arrive meanwhile wait in the connection.
    socket.pause()
    const live = await this.#context.service.live(
      {...(this.#language === undefined ? {} : {language_hint: this.#language})},
      {
        silenceMs: this.#continuous ? endpointMs : undefined,
        once: !this.#continuous,
        emit: (event) => this.#emit(event),
        onDraftFailure: (err) => logger('speech_server').warn({err}, 'a partial result failed'),
        signal: this.#gone.signal,
      },
    )
    this.#live = live
    const end = () => live.close().catch((err: unknown) => logger('speech_server').error({err}, 'a session failed'))
    if (this.#gone.signal.aborted) return void end()
    this.#gone.signal.addEventListener('abort', end, {once: true})
    socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#takeAudio(data) : this.#takeText(data)))
    socket.resume()
  }

  /** Reports an error that ends the connection. */
  fail(thrown: unknown): void {
    if (this.#gone.signal.aborted) return
    const error = SvcError.from(thrown)
    logger('speech_server').error({err: error, code: error.code}, error.message)
    this.#send({type: 'error', correlation_id: this.#correlationId, ...asAudioError(error)})
    this.#socket.close(Close.internal)
  }

  /** Closes the connection because the server stops. */
  shutDown(): void {
    this.#socket.close(Close.shutdown, 'the server is stopping')
  }

  terminate(): void {
    this.#socket.terminate()
  }

  get #correlationId(): string | null {
    return this.#live?.session.correlationId ?? null
  }

  #takeAudio(data: Buffer): void {
    const bytes = this.#odd.length === 0 ? data : Buffer.concat([this.#odd, data])
    const even = bytes.length - (bytes.length % 2)
    this.#odd = bytes.subarray(even)
    if (even > 0) this.#live?.session.push(samplesOf(bytes.subarray(0, even)))
  }

  #takeText(data: Buffer): void {
    try {
      const {op, hint} = readMessage(data)
      if (op === 'commit') void this.#commit()
      else if (op === 'cancel') this.#socket.close(Close.normal, 'cancelled')
      else this.#live?.session.setLanguage(hint)
    } catch (error) {
      this.#send({type: 'error', correlation_id: this.#correlationId, ...asAudioError(SvcError.from(error))})
      if (isErrorOf(error, 'language_unsupported')) return
      if (++this.#invalid >= maxInvalid) this.#socket.close(Close.policy, 'too many invalid messages')
    }
  }

  async #commit(): Promise<void> {
    try {
      await this.#live?.session.commit()
    } catch (error) {
      this.fail(error)
    }
  }

  #emit(event: LiveEvent): void {
    if (event.type === 'heartbeat') {
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
      return
    }
    this.#send(event)
    if (event.type === 'final') {
      this.#context.metrics.transcribed((event.end_ms - event.start_ms) / 1000)
      if (!this.#continuous) this.#socket.close(Close.normal)
    } else if (event.type === 'error' && (!this.#continuous || this.#live?.session.ended.aborted))
      this.#socket.close(closeCodes[event.error] ?? Close.normal)
  }

  #send(event: object): void {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > maxWaitingBytes) socket.terminate()
    else socket.send(JSON.stringify(event))
  }
}

const closeCodes: Readonly<Record<string, number>> = {
  buffer_overflow: Close.tooBig,
  internal_error: Close.internal,
}

/** @throws invalid_message, unknown_op */
function readMessage(data: Buffer): {op: 'commit' | 'cancel' | 'set_language'; hint: string | undefined} {
  const {op, language_hint: hint = null} = parse(data) as {op?: unknown; language_hint?: unknown}
  if (typeof op !== 'string') throw new SvcError('invalid_message', {reason: 'it has no op'})
  if (op !== 'commit' && op !== 'cancel' && op !== 'set_language')
    throw new SvcError('unknown_op', {op: op.slice(0, 100)})
  if (hint !== null && typeof hint !== 'string')
    throw new SvcError('invalid_message', {reason: 'language_hint is not a string or null'})
  return {op, hint: hint ?? undefined}
}

function parse(data: Buffer): object {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'))
    if (typeof value === 'object' && value !== null) return value
  } catch {}
  throw new SvcError('invalid_message', {reason: 'it is not a JSON object'})
}

/** Converts 16-bit little-endian samples. */
function samplesOf(bytes: Buffer): Float32Array {
  const samples = new Float32Array(bytes.length / 2)
  for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(2 * i) / 32_768
  return samples
}
