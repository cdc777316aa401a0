import {randomUUID} from 'node:crypto'
import type {IncomingMessage, ServerResponse} from 'node:http'
import {StreamableHTTPServerTransport} from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {isInitializeRequest} from '@modelcontextprotocol/sdk/types.js'
import {SvcError} from '../../errors/index.js'
import {createToolServer, type ToolServer} from '../server.js'
import type {ServerParts} from '../server-parts.js'
import {EventMemory} from './event-memory.js'

export interface SessionLimits {
  most: number
  /** Maximum time without a request or an open stream, ms. */
  idleMs: number
}

interface Session {
  transport: StreamableHTTPServerTransport
  tools: ToolServer
  /** Number of open requests, including streams. */
  open: number
  usedMs: number
}

/** HTTP sessions, each with its own MCP server. Clients send the session id with every request. */
export class HttpSessions {
  readonly #parts: ServerParts
  readonly #limits: SessionLimits
  readonly #sessions = new Map<string, Session>()
  /** Sessions without an id yet: their initialize request is running. */
  readonly #beginning = new Set<Session>()
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
  async of({headers}: IncomingMessage, body: unknown): Promise<Session> {
    const id = headers['mcp-session-id']
    if (typeof id === 'string') {
      const found = this.#sessions.get(id)
      if (found === undefined) throw new SvcError('mcp_session_not_found', {})
      return found
    }
    if (!isInitializeRequest(body)) throw new SvcError('mcp_session_missing', {})
    this.#makeRoom()
    return this.#create()
  }

  async answer(session: Session, request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    session.open++
    response.once('close', () => {
      this.#beginning.delete(session)
      session.open--
      session.usedMs = performance.now()
    })
    await session.transport.handleRequest(request, response, body)
  }

  /** Waits up to `drainMs` for running calls to finish, then closes all sessions. */
  async close(drainMs: number): Promise<void> {
    clearInterval(this.#timer)
    const sessions = [...this.#sessions.values()]
    for (const {tools} of sessions) tools.unattended()
    const idle = Promise.all(sessions.map(({tools}) => tools.idle()))
    await Promise.race([idle, new Promise((resolve) => setTimeout(resolve, drainMs).unref())])
    await Promise.all(sessions.map(({tools}) => tools.server.close()))
  }

  async #create(): Promise<Session> {
    const tools = createToolServer(this.#parts)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventMemory(),
      onsessioninitialized: (id) => {
        this.#beginning.delete(session)
        this.#sessions.set(id, session)
      },
    })
    const session: Session = {transport, tools, open: 0, usedMs: performance.now()}
    this.#beginning.add(session)
    await tools.server.connect(transport)
    const {onclose} = transport
    transport.onclose = () => {
      onclose?.()
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId)
    }
    return session
  }

  /** Closes the session that has been idle longest if the limit is reached. @throws mcp_sessions_full */
  #makeRoom(): void {
    const {most} = this.#limits
    if (this.#sessions.size + this.#beginning.size < most) return
    const [oldest] = this.#idle().sort((a, b) => a.usedMs - b.usedMs)
    if (oldest === undefined) throw new SvcError('mcp_sessions_full', {limit: most})
    void oldest.tools.server.close()
  }

  #expire(): void {
    const before = performance.now() - this.#limits.idleMs
    for (const {usedMs, tools} of this.#idle()) if (usedMs < before) void tools.server.close()
  }

  #idle(): Session[] {
    return [...this.#sessions.values()].filter(({open}) => open === 0)
  }
}
