import type {FastifyRequest} from 'fastify'
import type {WebSocket} from 'ws'
import {asAudioError, isErrorOf, SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import type {HttpApp} from '../net/index.js'
import type {LiveEvent} from '../speech/index.js'
import type {SpeechMetrics} from './metrics.js'
import type {Session, SessionClient} from './sessions/session.js'
import type {Sessions} from './sessions/sessions.js'
import {Close, interruptions, type LiveConnection, maxWaitingBytes, readAttachment} from './sockets.js'

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

/** Adds the WebSocket route for live audio. A request that cannot be accepted is refused before the upgrade. */
export function streamRoute(app: HttpApp, context: StreamContext): void {
  app.route({
    method: 'GET',
    url: streamPath,
    exposeHeadRoute: false,
    preHandler: async ({query}) => {
      const {session, language} = readQuery(query)
      await context.sessions.admit(session, language)
    },
    handler: () => {
      throw new SvcError('bad_request', {reason: 'This route accepts only WebSocket connections.'})
    },
    wsHandler: (socket, request) => {
      const connection = new Connection(socket, request, context)
      context.connections.add(connection)
      socket.once('close', () => context.connections.delete(connection))
      connection.start().catch((error: unknown) => connection.fail(error))
    },
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

/** A WebSocket connection to a live session. */
class Connection implements SessionClient, LiveConnection {
  readonly #socket: WebSocket
  readonly #context: StreamContext
  readonly #query: StreamQuery
  #session: Session | undefined
  #hasLeft = false
  /** A byte of a sample whose other byte has not arrived yet. */
  #odd: Buffer = Buffer.alloc(0)
  #invalid = 0

  constructor(socket: WebSocket, {query, id}: FastifyRequest, context: StreamContext) {
    this.#socket = socket
    this.#context = context
    this.#query = readQuery(query)
    // An invalid frame: the library closes the connection with the code of the violation, and would log it as an error.
    socket.removeAllListeners('error')
    socket.on('error', (err) => logger('speech_server').info({err, id}, 'a connection failed'))
    socket.once('close', (code) => this.#leave(!interruptions.has(code)))
  }

  /** Enters the session, then handles messages in the order in which they arrive. */
  async start(): Promise<void> {
    const socket = this.#socket
    const {sessions} = this.#context
    const {continuous, language, session: id} = this.#query
    // Messages that arrive meanwhile wait in the connection.
    socket.pause()
    const session = await sessions.enter(id, {
      silenceMs: continuous ? endpointMs : undefined,
      once: !continuous,
      request: language === undefined ? {} : {language_hint: language},
    })
    this.#session = session
    if (this.#hasLeft) return sessions.leave(session, this, false)
    await session.attach(this, this.#query)
    socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#takeAudio(data) : this.#takeText(data)))
    socket.resume()
  }

  /** Reports an error that ends the connection. */
  fail(thrown: unknown): void {
    const error = SvcError.from(thrown)
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (error.status >= 500) logger('speech_server').error({err: error, code: error.code}, error.message)
    this.#sendError(error)
    // A paused connection would not receive the answer to the close frame.
    this.#socket.resume()
    this.#socket.close(closeCodes[error.code] ?? Close.internal)
  }

  /** Closes the connection because the server stops. */
  shutDown(): void {
    this.#socket.close(Close.shutdown, 'the server is stopping')
  }

  terminate(): void {
    this.#socket.terminate()
  }

  replaced(): void {
    this.#socket.close(Close.policy, 'another connection continues the session')
  }

  idle(error: SvcError): void {
    this.#sendError(error)
    this.#leave(false)
    this.#socket.close(Close.normal)
  }

  emit(event: LiveEvent): void {
    const session = this.#session
    if (event.type === 'heartbeat') {
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
      return
    }
    this.#send(event)
    const isOnly = session?.info.once === true
    if (event.type === 'final') {
      this.#context.metrics.transcribed((event.end_ms - event.start_ms) / 1000)
      if (isOnly) this.#socket.close(Close.normal)
    } else if (event.type === 'error' && (isOnly || session?.failed?.aborted))
      this.#socket.close(closeCodes[event.error] ?? Close.normal)
  }

  #leave(isOver: boolean): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    if (this.#session === undefined) return
    this.#context.sessions
      .leave(this.#session, this, isOver)
      .catch((err: unknown) => logger('speech_server').error({err}, 'a session failed'))
  }

  #takeAudio(data: Buffer): void {
    const bytes = this.#odd.length === 0 ? data : Buffer.concat([this.#odd, data])
    const even = bytes.length - (bytes.length % 2)
    this.#odd = bytes.subarray(even)
    const session = this.#session
    if (even === 0 || session === undefined) return
    session.push(bytes.subarray(0, even))
    if (session.isBehind) void this.#wait(session)
  }

  /** Reads no more audio until the session has caught up. */
  async #wait(session: Session): Promise<void> {
    this.#socket.pause()
    await session.settle().catch(() => undefined)
    this.#socket.resume()
  }

  #takeText(data: Buffer): void {
    try {
      const {op, hint} = readMessage(data)
      if (op === 'commit') this.#session?.commit().catch((error: unknown) => this.fail(error))
      else if (op === 'cancel') this.#socket.close(Close.normal, 'cancelled')
      else this.#session?.setLanguage(hint)
    } catch (error) {
      this.#sendError(error)
      if (isErrorOf(error, 'language_unsupported')) return
      if (++this.#invalid >= maxInvalid) this.#socket.close(Close.policy, 'too many invalid messages')
    }
  }

  #sendError(error: unknown): void {
    const correlationId = this.#session?.correlationId ?? null
    this.#send({type: 'error', correlation_id: correlationId, ...asAudioError(SvcError.from(error))})
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
