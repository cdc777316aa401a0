import {setTimeout as sleep} from 'node:timers/promises'
import websocket from '@fastify/websocket'
import {isObject, type MessageRefusal, parseMessage} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import {bearerToken, type HttpApp} from '../../net/index.js'
import {callTool} from '../call-tool.js'
import {listTool} from '../list-tool.js'
import {refusalAnswer} from '../messages.js'
import type {ToolRegistry} from '../registry.js'
import type {ServerParts} from '../server-parts.js'
import {type AccessOptions, type Role, roleOf} from './access.js'
import {isJsonRpc, jsonRpcAnswer} from './json-rpc-answer.js'

export const gatewayPath = '/v1/ws'

/** Maximum size of a message, bytes. */
const maxMessageBytes = 256 << 10
const maxConnections = 64
/** Maximum number of calls of a connection that run at a time. */
const maxPending = 16
/** Output that may wait for a slow client before further events are delayed, bytes. */
const maxWaitingBytes = 1 << 20
/** Interval between checks whether a slow client has read its output, ms. */
const drainPollMs = 50
/** Time that a client has to authenticate, ms. */
const authenticateMs = 10_000
/** Time that clients have to answer when the server stops, ms. */
const closeMs = 1000

/** Close codes of WebSocket (RFC 6455), and those of this program. */
const Close = {internal: 1011, shutdown: 1012, busy: 1013, unauthenticated: 4401} as const

export interface GatewayOptions {
  parts: ServerParts
  access: AccessOptions
  registries: Readonly<Record<Role, ToolRegistry>>
  /** Time that the client must wait before its next message, ms. */
  waitMs: (address: string) => number
  /** The limit behind `waitMs`, for error messages. */
  requestsPerMinute: number
}

type Socket = websocket.WebSocket

/** Serves tools and the entries of the bulletin board over WebSocket. The caller checks the origin and the rate limit. */
export async function serveGateway(app: HttpApp, options: GatewayOptions): Promise<void> {
  const connections = new Set<Connection>()
  await app.register(websocket, {
    options: {maxPayload: maxMessageBytes},
    // The plugin would wait for clients to answer the close frame.
    preClose: (done: () => void) => done(),
  })
  app.addHook('preClose', (done) => {
    for (const connection of connections) connection.close(Close.shutdown, 'the server stops')
    done()
  })
  // The HTTP server no longer manages the socket of a refused upgrade.
  app.addHook('onResponse', async ({headers, raw}) => {
    if (headers.upgrade !== undefined) raw.socket.destroySoon()
  })
  app.get(gatewayPath, {websocket: true}, (socket, {headers, ip}) => {
    if (connections.size >= maxConnections) return socket.close(Close.busy, 'too many connections')
    const connection = new Connection(socket, options, ip)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
    connection.begin(bearerToken(headers.authorization))
  })
}

interface Request {
  id: unknown
  type: string
  name: unknown
  args: unknown
}

class Connection {
  readonly #socket: Socket
  readonly #options: GatewayOptions
  readonly #address: string
  readonly #gone = new AbortController()
  #role: Role | undefined
  #pending = 0
  /** Whether the last message was one of JSON-RPC. */
  #isJsonRpc = false
  #late: NodeJS.Timeout | undefined

  constructor(socket: Socket, options: GatewayOptions, address: string) {
    this.#socket = socket
    this.#options = options
    this.#address = address
  }

  /** @param token of the upgrade request, if it has one */
  begin(token: string | undefined): void {
    this.#late = setTimeout(() => this.close(Close.unauthenticated, 'no valid token in time'), authenticateMs)
    this.#socket.once('close', () => {
      clearTimeout(this.#late)
      this.#gone.abort()
    })
    this.#socket.on('error', (error) => logger('mcp').debug({err: error}, 'gateway connection failed'))
    this.#socket.on('message', (data) => void this.#receive(String(data)))
    this.#authenticate(token)
  }

  close(code: number, reason: string): void {
    this.#gone.abort()
    this.#socket.close(code, reason)
    setTimeout(() => this.#socket.terminate(), closeMs).unref()
  }

  #authenticate(token: string | undefined): boolean {
    const role = roleOf(this.#options.access, token)
    if (role === undefined) return false
    const isFirst = this.#role === undefined
    this.#role = role
    if (!isFirst) return true
    clearTimeout(this.#late)
    this.#pushEvents().catch((error: unknown) => {
      if (this.#gone.signal.aborted) return
      logger('mcp').error({err: error}, 'gateway cannot read events')
      this.close(Close.internal, 'events cannot be read')
    })
    return true
  }

  async #receive(text: string): Promise<void> {
    const {value, refusal} = parseMessage(text)
    this.#isJsonRpc = isJsonRpc(value, text, this.#isJsonRpc)
    if (this.#isJsonRpc) return this.#answerJsonRpc(value, refusal)
    const request = requestOf(value)
    if (request === undefined)
      return this.#answer({id: null, type: 'error'}, new SvcError('bad_request', {reason: 'it is not a JSON object'}))
    if (refusal !== undefined) return this.#answer(request, refusal.error)
    if (this.#options.waitMs(this.#address) > 0) return this.#answer(request, this.#rateLimited())
    if (request.type === 'auth') {
      const {token} = Object(request.args) as {token?: unknown}
      if (!this.#authenticate(typeof token === 'string' ? token : undefined))
        return this.close(Close.unauthenticated, 'invalid token')
      return this.#answer(request, {role: this.#role})
    }
    const role = this.#role
    if (role === undefined) return this.close(Close.unauthenticated, 'send a token first')
    const registry = this.#options.registries[role]
    if (request.type === 'list_tools')
      return this.#answer(request, {tools: registry.listed(this.#options.parts.tiers).map(listTool)})
    if (request.type === 'call_tool') return this.#call(request, registry)
    return this.#answer(request, new SvcError('bad_request', {reason: 'its type is not auth, list_tools or call_tool'}))
  }

  async #answerJsonRpc(value: unknown, refusal: MessageRefusal | undefined): Promise<void> {
    if (this.#role === undefined) {
      this.close(Close.unauthenticated, 'send a token first')
      return
    }
    const isLimited = this.#options.waitMs(this.#address) > 0
    const refused = isLimited ? {id: null, error: this.#rateLimited()} : refusal
    const answer = refused === undefined ? await jsonRpcAnswer(value) : refusalAnswer(refused)
    if (answer !== undefined) this.#send(answer)
  }

  #rateLimited(): SvcError {
    return new SvcError('rate_limited', {limit: this.#options.requestsPerMinute, within: 'minute'})
  }

  async #call(request: Request, registry: ToolRegistry): Promise<void> {
    const {name, args = {}} = request
    if (typeof name !== 'string' || !isObject(args))
      return this.#answer(request, new SvcError('bad_request', {reason: 'its name is no text or its args no object'}))
    if (this.#pending >= maxPending) return this.#answer(request, new SvcError('calls_exhausted', {limit: maxPending}))
    this.#pending++
    const hooks = {signal: this.#gone.signal, report: () => undefined, notice: () => undefined, ask: undefined}
    const {envelope, error} = await callTool(
      registry,
      name,
      args as Record<string, unknown>,
      this.#options.parts.host,
      hooks,
    )
    this.#pending--
    this.#send({
      ...head(request),
      success: error === undefined,
      is_error: error !== undefined,
      data: envelope,
      error: envelope.error ?? null,
    })
  }

  #answer(request: Pick<Request, 'id' | 'type'>, result: object): void {
    const error = result instanceof SvcError ? result : undefined
    const data = error === undefined ? result : {code: error.code, remediation: error.hint}
    this.#send({
      ...head(request),
      success: error === undefined,
      is_error: error !== undefined,
      data,
      error: error?.message ?? null,
    })
  }

  /** Sends the entries of the bulletin board. A slow client loses the oldest ones. */
  async #pushEvents(): Promise<void> {
    const {signal} = this.#gone
    const {modules, orchestrator} = await this.#options.parts.host.open()
    for await (const entry of modules.messages.followBulletin(orchestrator, signal)) {
      while (this.#socket.bufferedAmount > maxWaitingBytes && !signal.aborted) await sleep(drainPollMs)
      this.#send({id: null, type: 'agent_event', success: true, is_error: false, data: entry, error: null})
    }
  }

  #send(message: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message))
  }
}

const head = ({id, type}: Pick<Request, 'id' | 'type'>) => ({id: id ?? null, type})

function requestOf(value: unknown): Request | undefined {
  if (!isObject(value)) return undefined
  const {id, type, name, args} = value
  return {id, type: typeof type === 'string' ? type : '', name, args}
}
