import {once} from 'node:events'
import {createConnection, type Socket} from 'node:net'
import {SvcError} from '../errors/index.js'
import {onAbort} from '../process/index.js'
import type {EventRecord} from '../tasks/index.js'
import {type Line, LineReader} from './framing.js'
import {parsePeer, reachable} from './listen-address.js'
import type {WireError} from './wire-error.js'

export interface ClientOptions {
  /** Token, if the daemon requires one. */
  token?: string | undefined
  /** Timeout of the connection and of each request, ms. */
  timeoutMs?: number
  signal?: AbortSignal
}

/** Result of `orch.hello`. */
export interface Greeting {
  ok: true
  protocol: string
  server_version: string
  repository_id: string
  methods: string[]
}

export interface Notification {
  method: string
  params: {subscription_id: string; event: EventRecord}
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

interface Answer {
  id?: unknown
  method?: string
  params?: unknown
  result?: unknown
  error?: WireError
}

const defaultTimeoutMs = 30_000
/** Large, because a list of tasks may be long. */
const maxLineBytes = 1 << 28
/** Maximum number of buffered notifications; above it, reading from the socket is paused. */
const maxBuffered = 1000

/** JSON-RPC 2.0 connection to a daemon. Requests can be pipelined. */
export class DaemonClient {
  readonly #socket: Socket
  readonly #address: string
  readonly #timeoutMs: number
  readonly #reader = new LineReader(maxLineBytes)
  readonly #waiting = new Map<number, Waiting>()
  readonly #notifications: Notification[] = []
  #wakeReader: () => void = () => undefined
  #last = 0
  #endReason: SvcError | undefined

  private constructor(socket: Socket, address: string, timeoutMs: number) {
    this.#socket = socket
    this.#address = address
    this.#timeoutMs = timeoutMs
    socket.on('data', (chunk) => {
      for (const line of this.#reader.push(chunk)) this.#take(line)
    })
    socket.on('error', () => undefined)
    socket.once('close', () => this.#end(new SvcError('daemon_connection_lost', {address})))
  }

  /**
   * Connects to a daemon and authenticates if a token is given.
   * @param address such as `127.0.0.1:9745`
   * @throws unreachable, timeout, daemon_token_refused, daemon_answer_invalid; the reason of the signal
   */
  static async connect(address: string, {token, timeoutMs = defaultTimeoutMs, signal}: ClientOptions = {}) {
    const peer = parsePeer(address)
    if (peer === undefined) throw new SvcError('daemon_address_invalid', {address})
    signal?.throwIfAborted()
    const socket = createConnection({...reachable(peer), noDelay: true})
    const giveUp = () => socket.destroy(new SvcError('timeout', {url: address, ms: timeoutMs}))
    const timer = setTimeout(giveUp, timeoutMs)
    const stopListening = onAbort(signal, () => socket.destroy(new SvcError('interrupted', {})))
    try {
      await once(socket, 'connect')
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof SvcError) throw error
      throw new SvcError('unreachable', {url: address, reason: reasonOf(error)}, {cause: error})
    } finally {
      clearTimeout(timer)
      stopListening()
    }
    const client = new DaemonClient(socket, address, timeoutMs)
    onAbort(signal, (reason) => client.#abort(reason))
    try {
      if (token !== undefined) await client.hello(token)
    } catch (error) {
      client.close()
      throw error
    }
    return client
  }

  hello(token?: string): Promise<Greeting> {
    return this.call('orch.hello', {client: 'svc', ...(token === undefined ? {} : {token})})
  }

  /**
   * Calls a method.
   * @throws the error of the daemon, as a catalogue error if its kind is known; timeout, daemon_connection_lost,
   *   daemon_answer_invalid
   */
  call<T>(method: string, params: object = {}, timeoutMs = this.#timeoutMs): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#endReason !== undefined) {
        reject(this.#endReason)
        return
      }
      const id = ++this.#last
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        reject(new SvcError('timeout', {url: this.#address, ms: timeoutMs}))
      }, timeoutMs)
      this.#waiting.set(id, {
        resolve(value) {
          clearTimeout(timer)
          resolve(value as T)
        },
        reject(error) {
          clearTimeout(timer)
          reject(error)
        },
      })
      this.#socket.write(`${JSON.stringify({jsonrpc: '2.0', id, method, params})}\n`)
    })
  }

  /** Yields notifications until the connection ends. A slow consumer slows the daemon down, but nothing is lost. */
  async *notifications(): AsyncGenerator<Notification> {
    for (;;) {
      const next = this.#notifications.shift()
      if (this.#notifications.length <= maxBuffered / 2) this.#socket.resume()
      if (next !== undefined) yield next
      else if (this.#endReason !== undefined) return
      else
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve
        })
    }
  }

  /** Reason why the connection has ended; undefined while it is open. */
  get fault(): SvcError | undefined {
    return this.#endReason
  }

  close(): void {
    this.#socket.destroy()
  }

  #abort(reason: unknown): void {
    for (const {reject} of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
    this.close()
  }

  #end(reason: SvcError): void {
    this.#endReason ??= reason
    for (const {reject} of this.#waiting.values()) reject(this.#endReason)
    this.#waiting.clear()
    this.#wakeReader()
  }

  #take(line: Line): void {
    const answer = typeof line === 'string' ? parse(line) : undefined
    if (answer === undefined) {
      this.#end(new SvcError('daemon_answer_invalid', {address: this.#address}))
      this.close()
      return
    }
    const {id, method, params, result, error} = answer
    if (method !== undefined) {
      this.#notifications.push({method, params: params as Notification['params']})
      if (this.#notifications.length > maxBuffered) this.#socket.pause()
      this.#wakeReader()
      return
    }
    const waiting = this.#waiting.get(id as number)
    this.#waiting.delete(id as number)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(fromWireError(error))
  }
}

/** Parses a JSON-RPC response; undefined if the line is not one. */
function parse(line: string): Answer | undefined {
  try {
    const value = JSON.parse(line) as (Answer & {jsonrpc?: unknown}) | null
    return value?.jsonrpc === '2.0' ? value : undefined
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  const {code, message} = error as NodeJS.ErrnoException
  return code === 'ECONNREFUSED' ? 'connection refused' : message || String(code)
}

const byCode: Readonly<Record<number, 'call_invalid' | 'call_not_found' | 'call_refused' | 'call_unavailable'>> = {
  [-32_700]: 'call_invalid',
  [-32_600]: 'call_invalid',
  [-32_601]: 'call_not_found',
  [-32_602]: 'call_invalid',
  403: 'call_refused',
  404: 'call_not_found',
  409: 'call_refused',
  503: 'call_unavailable',
  504: 'call_unavailable',
}

/** Converts an error of a daemon to the catalogue error of its kind, or if that is unknown, of its code. */
export function fromWireError({code, message, data}: WireError): SvcError {
  const kind = data?.kind
  if (kind !== undefined)
    try {
      const known = SvcError.fromRecord({code: kind as SvcError['code'], params: data.facts, stack: undefined})
      if (known.message === message) return known
    } catch {
      // The kind is unknown to this version, or the daemon did not send the facts for its message.
    }
  return new SvcError(byCode[code] ?? 'call_failed', {message})
}
