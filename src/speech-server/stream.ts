import type {FastifyRequest} from 'fastify'
import type {WebSocket} from 'ws'
import {asAudioError, isErrorOf, SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import type {HttpApp} from '../net/index.js'
import type {LiveEvent} from '../speech/index.js'
import {Close, LiveConnection, liveRoute} from './live-connection.js'
import type {SpeechMetrics} from './metrics.js'
import type {ServedSession} from './sessions/session.js'
import type {Sessions} from './sessions/sessions.js'
import {readAttachment} from './sockets.js'

export const streamPath = '/api/audio/transcribe/stream'

/** Number of invalid messages after which the connection is closed. */
const maxInvalid = 10
/** Silence that ends an utterance of a continuous connection, ms. */
const endpointMs = 400

interface StreamContext {
  sessions: Sessions
  metrics: SpeechMetrics
  connections: Set<LiveConnection>
}

/** Adds the WebSocket route for live audio. */
export function streamRoute(app: HttpApp, context: StreamContext): void {
  liveRoute(app, {
    url: streamPath,
    admit(query) {
      const {session, language} = readQuery(query)
      return context.sessions.admit(session, language)
    },
    connect: (socket, request) => new StreamConnection(socket, request, context),
    connections: context.connections,
  })
}

interface StreamQuery extends ReturnType<typeof readAttachment> {
  continuous: boolean
  language: string | undefined
}

/** @throws bad_request */
function readQuery(query: unknown): StreamQuery {
  const {continuous, language_hint: language} = query as Partial<Record<string, string>>
  return {
    ...readAttachment(query),
    continuous: continuous === '1' || continuous === 'true',
    language: language || undefined,
  }
}

class StreamConnection extends LiveConnection {
  readonly #metrics: SpeechMetrics
  readonly #query: StreamQuery
  #invalid = 0

  constructor(socket: WebSocket, request: FastifyRequest, {sessions, metrics}: StreamContext) {
    super(socket, request, sessions)
    this.#metrics = metrics
    this.#query = readQuery(request.query)
  }

  async start(): Promise<void> {
    const {socket} = this
    const {continuous, language, session: id} = this.#query
    // Messages that arrive meanwhile wait in the connection.
    socket.pause()
    const session = await this.enter(id, {
      silenceMs: continuous ? endpointMs : undefined,
      once: !continuous,
      request: language === undefined ? {} : {language_hint: language},
    })
    if (session === undefined) return
    await session.attach(this, this.#query)
    socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#takeAudio(data) : this.#takeText(data)))
    socket.resume()
  }

  fail(thrown: unknown): void {
    const error = SvcError.from(thrown)
    if (this.socket.readyState !== this.socket.OPEN) return
    if (error.status >= 500) logger('speech_server').error({err: error, code: error.code}, error.message)
    this.#sendError(error)
    // A paused connection would not receive the answer to the close frame.
    this.socket.resume()
    this.socket.close(closeCodes[error.code] ?? Close.internal)
  }

  idle(error: SvcError): void {
    this.#sendError(error)
    this.leave(false)
    this.socket.close(Close.normal)
  }

  emit(event: LiveEvent): void {
    const {session} = this
    if (event.type === 'heartbeat') {
      this.ping()
      return
    }
    this.send(event)
    const isOnly = session?.info.once === true
    if (event.type === 'final') {
      this.#metrics.transcribed((event.end_ms - event.start_ms) / 1000)
      if (isOnly) this.socket.close(Close.normal)
    } else if (event.type === 'error' && (isOnly || session?.failed?.aborted))
      this.socket.close(closeCodes[event.error] ?? Close.normal)
  }

  #takeAudio(data: Buffer): void {
    const {session} = this
    const samples = this.samplesOf(data)
    if (samples.length === 0 || session === undefined) return
    session.push(samples)
    if (session.isBehind) void this.#wait(session)
  }

  /** Reads no more audio until the session has caught up. */
  async #wait(session: ServedSession): Promise<void> {
    this.socket.pause()
    await session.settle().catch(() => undefined)
    this.socket.resume()
  }

  #takeText(data: Buffer): void {
    try {
      const {op, hint} = readMessage(data)
      if (op === 'commit') this.session?.commit().catch((error: unknown) => this.fail(error))
      else if (op === 'cancel') this.socket.close(Close.normal, 'cancelled')
      else this.session?.setLanguage(hint)
    } catch (error) {
      this.#sendError(error)
      if (isErrorOf(error, 'language_unsupported')) return
      if (++this.#invalid >= maxInvalid) this.socket.close(Close.policy, 'too many invalid messages')
    }
  }

  #sendError(error: unknown): void {
    const correlationId = this.session?.correlationId ?? null
    this.send({type: 'error', correlation_id: correlationId, ...asAudioError(SvcError.from(error))})
  }
}

const closeCodes: Readonly<Record<string, number>> = {
  buffer_overflow: Close.tooBig,
  internal_error: Close.internal,
  overloaded: Close.busy,
  speech_session_not_found: Close.policy,
  speech_gap_too_long: Close.policy,
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
