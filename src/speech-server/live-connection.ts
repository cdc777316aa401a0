import type {FastifyRequest} from 'fastify'
import type {WebSocket} from 'ws'
import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import type {HttpApp} from '../net/index.js'
import type {LiveEvent} from '../speech/index.js'
import type {ServedSession, SessionClient, SessionOptions} from './sessions/session.js'
import type {Sessions} from './sessions/sessions.js'

/** Maximum output that waits for a slow client, bytes. */
const maxWaitingBytes = 1 << 20

/** Close codes of WebSocket (RFC 6455). */
export const Close = {
  normal: 1000,
  away: 1001,
  lost: 1006,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  shutdown: 1012,
  busy: 1013,
} as const

/** Close codes after which a client may come back to its session. */
const interruptions: ReadonlySet<number> = new Set([Close.away, Close.lost, Close.internal, Close.shutdown])

interface LiveRoute {
  url: string
  /** Refuses a request that cannot be accepted, before the upgrade. */
  admit(query: unknown): Promise<void>
  connect(socket: WebSocket, request: FastifyRequest): LiveConnection
  connections: Set<LiveConnection>
}

/** Adds a WebSocket route for live audio. */
export function liveRoute(app: HttpApp, {url, admit, connect, connections}: LiveRoute): void {
  app.route({
    method: 'GET',
    url,
    exposeHeadRoute: false,
    preHandler: async ({query}) => admit(query),
    handler: () => {
      throw new SvcError('bad_request', {reason: 'This route accepts only WebSocket connections.'})
    },
    wsHandler: (socket, request) => {
      const connection = connect(socket, request)
      connections.add(connection)
      socket.once('close', () => connections.delete(connection))
      connection.start().catch((error: unknown) => connection.fail(error))
    },
  })
}

/** A WebSocket connection to a live session. A stopping server closes it. */
export abstract class LiveConnection implements SessionClient {
  protected readonly socket: WebSocket
  protected readonly sessions: Sessions
  protected session: ServedSession | undefined
  /** First byte of a sample whose second one has not arrived yet. */
  protected half: Buffer = Buffer.alloc(0)
  #hasLeft = false

  constructor(socket: WebSocket, {id}: FastifyRequest, sessions: Sessions) {
    this.socket = socket
    this.sessions = sessions
    // An invalid frame: the library closes the connection with the code of the violation, and would log it as an error.
    socket.removeAllListeners('error')
    socket.on('error', (err) => logger('speech_server').info({err, id}, 'a connection failed'))
    socket.once('close', (code) => this.leave(!interruptions.has(code)))
  }

  /** Handles the messages of the client, in the order in which they arrive. */
  abstract start(): Promise<void>
  /** Reports an error that ends the connection. */
  abstract fail(thrown: unknown): void
  abstract emit(event: LiveEvent): void
  abstract idle(error: SvcError): void

  /** Closes the connection because the server stops. */
  shutDown(): void {
    this.socket.close(Close.shutdown, 'the server is stopping')
  }

  terminate(): void {
    this.socket.terminate()
  }

  replaced(): void {
    this.socket.close(Close.policy, 'another connection continues the session')
  }

  /** Enters a session; undefined if the client has left meanwhile. */
  protected async enter(id: string | undefined, options: SessionOptions): Promise<ServedSession | undefined> {
    const session = await this.sessions.enter(id, options)
    this.session = session
    if (!this.#hasLeft) return session
    await this.sessions.leave(session, this, false)
    return undefined
  }

  protected leave(isOver: boolean): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    if (this.session === undefined) return
    this.sessions
      .leave(this.session, this, isOver)
      .catch((err: unknown) => logger('speech_server').error({err}, 'a session failed'))
  }

  /** The complete 16-bit samples of the audio so far that were not returned yet. */
  protected samplesOf(data: Buffer): Buffer {
    const bytes = this.half.length === 0 ? data : Buffer.concat([this.half, data])
    const complete = bytes.length - (bytes.length % 2)
    this.half = bytes.subarray(complete)
    return bytes.subarray(0, complete)
  }

  protected ping(): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.ping()
  }

  protected send(event: object): void {
    const {socket} = this
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > maxWaitingBytes) socket.terminate()
    else socket.send(JSON.stringify(event))
  }
}
