import {randomUUID} from 'node:crypto'
import {isInitializeRequest, type Server, WebStandardStreamableHTTPServerTransport} from '@modelcontextprotocol/server'
import {SvcError} from '../../errors/index.js'
import {createToolServer} from '../server.js'
import type {ServerParts} from '../server-parts.js'
import {createServerState, drain, type ServerState} from '../server-state.js'
import {EventMemory} from './event-memory.js'

export interface SessionLimits {
  max: number
  /** Maximum time without a request or an open stream, ms. */
  idleMs: number
}

interface HttpSession {
  transport: WebStandardStreamableHTTPServerTransport
  server: Server
  state: ServerState
  /** Number of open requests, including streams. */
  open: number
  usedMs: number
}

/** HTTP sessions, each with its own MCP server. Clients send the session id with every request. */
export class HttpSessions {
  readonly #parts: ServerParts
  readonly #limits: SessionLimits
  readonly #sessions = new Map<string, HttpSession>()
  /** Sessions without an id yet: their initialize request is running. */
  readonly #beginning = new Set<HttpSession>()
  readonly #timer: NodeJS.Timeout

  constructor(parts: ServerParts, limits: SessionLimits) {
    this.#parts = parts
    this.#limits = limits
    this.#timer = setInterval(() => this.#expire(), Math.min(limits.idleMs, 60_000) / 2).unref()
  }

  get size(): number {
    return this.#sessions.size
  }

  /**
   * Finds the session of a request, or creates one for an initialize request.
   * @throws mcp_session_missing, mcp_session_not_found, mcp_sessions_full
   */
  async of({headers}: Request, body: unknown): Promise<HttpSession> {
    const id = headers.get('mcp-session-id')
    if (id !== null) {
      const found = this.#sessions.get(id)
      if (found === undefined) throw new SvcError('mcp_session_not_found', {})
      return found
    }
    if (!isInitializeRequest(body)) throw new SvcError('mcp_session_missing', {})
    this.#makeRoom()
    return this.#create()
  }

  /** @param closed resolves when the response has been sent or the client has disconnected */
  answer(session: HttpSession, request: Request, body: unknown, closed: Promise<unknown>): Promise<Response> {
    session.open++
    void closed.then(() => {
      this.#beginning.delete(session)
      session.open--
      session.usedMs = performance.now()
    })
    return session.transport.handleRequest(request, body === undefined ? {} : {parsedBody: body})
  }

  /** Waits up to `drainMs` for running calls to finish, then closes all sessions. */
  async close(drainMs: number): Promise<void> {
    clearInterval(this.#timer)
    const sessions = [...this.#sessions.values()]
    await Promise.all(sessions.map(({state}) => drain(state, drainMs)))
    await Promise.all(sessions.map(({server}) => server.close()))
  }

  async #create(): Promise<HttpSession> {
    const state = createServerState()
    const server = createToolServer(this.#parts, state, 'legacy')
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventMemory(),
      onsessioninitialized: (id) => {
        this.#beginning.delete(session)
        this.#sessions.set(id, session)
      },
    })
    const session: HttpSession = {transport, server, state, open: 0, usedMs: performance.now()}
    this.#beginning.add(session)
    await server.connect(transport)
    const {onclose} = transport
    transport.onclose = () => {
      onclose?.()
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId)
    }
    return session
  }

  /** Closes the session that has been idle longest if the limit is reached. @throws mcp_sessions_full */
  #makeRoom(): void {
    const {max} = this.#limits
    if (this.#sessions.size + this.#beginning.size < max) return
    const [oldest] = this.#idle().sort((a, b) => a.usedMs - b.usedMs)
    if (oldest === undefined) throw new SvcError('mcp_sessions_full', {limit: max})
    void oldest.server.close()
  }

  #expire(): void {
    const before = performance.now() - this.#limits.idleMs
    for (const {usedMs, server} of this.#idle()) if (usedMs < before) void server.close()
  }

  #idle(): HttpSession[] {
    return [...this.#sessions.values()].filter(({open}) => open === 0)
  }
}
