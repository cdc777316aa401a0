import type {WebSocket} from 'ws'
import {encodeS16le} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import {connectionFault, trustOptions} from '../../net/index.js'
import {EventStream} from '../live/event-stream.js'
import type {LiveEvent, SessionEvent} from './session-event.js'

export interface RemoteSessionOptions {
  /** URL of a speech server. */
  url: string
  /** Bearer token. */
  token?: string | undefined
  language?: string | undefined
  /** Ends the session after the first utterance with text. */
  once?: boolean
  /** Maximum audio to keep until the server has it, samples. */
  maxKept?: number
  /** Waits between attempts to connect, ms; the last one is repeated. */
  delaysMs?: readonly number[]
  /** Time without a connection after which the session fails, ms. */
  patienceMs?: number
}

const sampleRate = 16_000
const streamPath = '/api/audio/transcribe/stream'
/** Interval of pings; a server that does not answer two of them is gone, ms. */
const pingEveryMs = 5000
/** Audio in one message, samples. */
const messageSamples = 16_000
/** Output that waits in a connection before more is sent, bytes. */
const maxWaitingBytes = 256 << 10

/** Statuses of a refused connection after which another attempt can succeed. */
const temporary: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

/**
 * A session on a speech server. It keeps audio until the server reports that it has stored it, reconnects when the
 * connection is lost, and continues where the server stopped: no word is lost or repeated. Its owner reads the events
 * until they end after `close`.
 */
export class RemoteSession implements AsyncIterable<SessionEvent> {
  readonly #options: RemoteSessionOptions
  readonly #Socket: typeof WebSocket
  readonly #events = new EventStream<SessionEvent>()
  readonly #ended = new AbortController()
  readonly #done: Promise<void>
  #resolveDone: () => void = () => undefined
  #socket: WebSocket | undefined
  #isReady = false
  /** The session on the server, and the position at which it began, samples. */
  #remote: {id: string; start: number; isKept: boolean} | undefined
  /** Number of final results of the session on the server. */
  #finals = 0
  /** Audio that the server may not have, s16le, and its position, samples. */
  #kept: Buffer[] = []
  #keptFrom = 0
  #end = 0
  /** End of the last utterance with a result, samples. */
  #finishedTo = 0
  #waiting: (() => void)[] = []
  /** Position up to which audio was sent over the current connection, samples. */
  #sent = 0
  #isCommitted = false
  #isCommitSent = false
  #isClosed = false
  #failures = 0
  #hasText = false
  #attempt = 0
  #lostAt = performance.now()
  #timer: NodeJS.Timeout | undefined
  #pings: NodeJS.Timeout | undefined
  id = ''
  correlationId = ''

  private constructor(options: RemoteSessionOptions, Socket: typeof WebSocket) {
    this.#options = options
    this.#Socket = Socket
    this.#done = new Promise((resolve) => {
      this.#resolveDone = resolve
    })
  }

  /** Connects, and resolves when the server is ready. @throws unreachable, unauthorized, http_status */
  static async start(options: RemoteSessionOptions): Promise<RemoteSession> {
    // Imported here, because it loads the HTTP and TLS modules of Node.js, which other uses of this module do not need.
    const {WebSocket: Socket} = await import('ws')
    const session = new RemoteSession(options, Socket)
    await session.#connect(true)
    return session
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionEvent, void, undefined> {
    return this.#events[Symbol.asyncIterator]()
  }

  /** Aborts when the session has failed, with its error as the reason. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** True if the only utterance of the session has ended. */
  get isDone(): boolean {
    return this.#options.once === true && this.#hasText
  }

  /** Number of utterances without a final result because of an error. */
  get failures(): number {
    return this.#failures
  }

  /** Adds samples, mono at 16 kHz. */
  push(samples: Float32Array): void {
    if (this.#isClosed || this.#ended.signal.aborted) return
    this.#kept.push(encodeS16le(samples))
    this.#end += samples.length
    this.#drop(this.#end - this.#maxKept)
    this.#send()
    if (this.#socket === undefined && this.#timer === undefined) this.#reconnect(0)
  }

  /** Ends the audio; resolves when the owner has all final results, or the session has failed. */
  async commit(): Promise<void> {
    if (!this.isDone && !this.#ended.signal.aborted) {
      this.#isCommitted = true
      this.#send()
      if (this.#socket === undefined && this.#timer === undefined) this.#reconnect(0)
      await this.#done
    }
    await this.#events.handled()
  }

  /** Waits while much audio is not on the server yet, so that a source that can wait loses nothing. */
  async settle(): Promise<void> {
    while (this.#end - this.#keptFrom > this.#maxKept / 2 && !this.#ended.signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  get #maxKept(): number {
    return this.#options.maxKept ?? 300 * sampleRate
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearInterval(this.#pings)
    this.#events.end()
    const socket = this.#socket
    if (socket === undefined) return
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.close(1000)
    // A server that does not answer is not waited for.
    setTimeout(() => socket.terminate(), 1000).unref()
    await closed
  }

  /** @param isFirst fails instead of trying again */
  #connect(isFirst: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const {token} = this.#options
      const socket = new this.#Socket(this.#address(), {
        ...trustOptions(),
        handshakeTimeout: 10_000,
        headers: token === undefined ? {} : {authorization: `Bearer ${token}`},
      })
      this.#socket = socket
      this.#isReady = false
      this.#isCommitSent = false
      let failure: SvcError | undefined
      socket.once('unexpected-response', (request, response) => {
        failure = this.#refusal(response.statusCode ?? 0)
        request.destroy()
        socket.terminate()
      })
      socket.on('error', (error) => {
        failure ??= connectionFault(this.#options.url, error)
      })
      socket.on('message', (data) => {
        const event = JSON.parse(String(data)) as LiveEvent
        if (event.type === 'ready') {
          this.#watch(socket)
          resolve()
        }
        this.#receive(event)
      })
      socket.once('close', () => {
        if (this.#socket === socket) this.#socket = undefined
        clearInterval(this.#pings)
        const error = failure ?? connectionFault(this.#options.url, new Error('the connection was closed'))
        if (isFirst && !this.#isReady) return reject(error)
        if (!this.#isClosed && !this.#ended.signal.aborted) this.#lose(error)
      })
    })
  }

  #address(): string {
    const {url, language} = this.#options
    const address = new URL(url.replace(/^http/i, 'ws'))
    if (!address.pathname.endsWith(streamPath)) address.pathname = `${address.pathname.replace(/\/$/, '')}${streamPath}`
    const {searchParams: query} = address
    query.set('continuous', '1')
    if (language !== undefined) query.set('language_hint', language)
    if (this.#remote !== undefined) {
      query.set('session', this.#remote.id)
      query.set('from', String(this.#keptFrom - this.#remote.start))
      query.set('finals', String(this.#finals))
    }
    return address.href
  }

  /** The error of a refused connection. Ends the session unless another attempt can succeed. */
  #refusal(status: number): SvcError {
    const {url} = this.#options
    if (status === 401) return new SvcError('unauthorized', {})
    // The session has expired, or the gap in the audio is too long: a new one begins with the audio that is left.
    if ((status === 404 || status === 400) && this.#remote !== undefined) {
      this.#reportGap(this.#finishedTo, this.#keptFrom)
      this.#forget()
      return connectionFault(url, new Error('the session has expired'))
    }
    const error = new SvcError('http_status', {url, status})
    if (!temporary.has(status) && status !== 404) this.#fail(error)
    return error
  }

  #forget(): void {
    this.#remote = undefined
    this.#finals = 0
  }

  #watch(socket: WebSocket): void {
    let heardAt = performance.now()
    const heard = () => {
      heardAt = performance.now()
    }
    socket.on('pong', heard)
    socket.on('message', heard)
    this.#pings = setInterval(() => {
      if (performance.now() - heardAt > 2 * pingEveryMs) socket.terminate()
      else socket.ping()
    }, pingEveryMs).unref()
  }

  #receive(event: LiveEvent): void {
    if (event.type === 'ready') this.#enter(event)
    else if (event.type === 'error') this.#receiveError(event)
    else this.#receiveResult(event)
  }

  #receiveResult(event: Exclude<LiveEvent, {type: 'ready' | 'error'}>): void {
    const start = this.#remote?.start ?? 0
    if ('next_sample' in event && event.next_sample !== undefined) this.#drop(start + event.next_sample, true)
    if (event.type !== 'final') {
      this.#events.push({type: event.type, event} as SessionEvent)
      return
    }
    this.#finals = event.utterance + 1
    const offsetMs = Math.round((1000 * start) / sampleRate)
    const final = {...event, start_ms: event.start_ms + offsetMs, end_ms: event.end_ms + offsetMs}
    this.#hasText ||= final.text !== ''
    this.#events.push({type: 'final', event: final})
    this.#finished(final.end_ms)
  }

  #enter(ready: Extract<LiveEvent, {type: 'ready'}>): void {
    const {session_id: id, next_sample: next} = ready
    const isNew = this.#remote === undefined
    if (isNew) this.#remote = {id, start: this.#keptFrom, isKept: next !== undefined}
    const {start} = this.#remote as {start: number}
    if (!isNew && next !== undefined) this.#reportGap(start + next, this.#keptFrom)
    this.#isReady = true
    this.#attempt = 0
    this.#sent = this.#keptFrom
    if (this.id === '') {
      this.id = id
      this.correlationId = ready.correlation_id
      this.#events.push({type: 'ready', event: ready})
    } else this.#events.push({type: 'connection', isConnected: true})
    this.#send()
  }

  #receiveError(event: Extract<LiveEvent, {type: 'error'}>): void {
    // The server has received no audio for a while, and closes the connection; the session continues with more audio.
    if (event.error === 'speech_capture_timeout') return
    this.#events.push({type: 'error', event})
    if (event.utterance === undefined) return
    this.#failures++
    this.#finals = event.utterance + 1
    this.#finished((event.end_ms ?? 0) + Math.round((1000 * (this.#remote?.start ?? 0)) / sampleRate))
  }

  /** @param endMs end of the last utterance with a result */
  #finished(endMs: number): void {
    this.#finishedTo = Math.max(this.#finishedTo, Math.round((endMs * sampleRate) / 1000))
    const isLast = this.#isCommitted && endMs >= Math.floor((1000 * this.#end) / sampleRate)
    if (isLast || this.isDone) this.#resolveDone()
  }

  #send(): void {
    const socket = this.#socket
    if (socket === undefined || !this.#isReady || socket.readyState !== socket.OPEN) return
    let position = this.#keptFrom
    for (const piece of this.#kept) {
      const end = position + piece.length / 2
      if (end > this.#sent) {
        // The rest is sent when this is on its way, so that a slow connection does not fill the memory twice.
        if (socket.bufferedAmount > maxWaitingBytes) return void setTimeout(() => this.#send(), 50).unref()
        this.#write(socket, piece.subarray(2 * Math.max(0, this.#sent - position)))
        this.#sent = end
      }
      position = end
    }
    if (this.#remote?.isKept === false) this.#drop(this.#sent, true)
    if (!this.#isCommitted || this.#isCommitSent) return
    this.#isCommitSent = true
    socket.send(JSON.stringify({op: 'commit'}))
  }

  #write(socket: WebSocket, audio: Buffer): void {
    for (let at = 0; at < audio.length; at += 2 * messageSamples)
      socket.send(audio.subarray(at, at + 2 * messageSamples))
  }

  /** Forgets audio before a position. @param isStored the server has it */
  #drop(position: number, isStored = false): void {
    const keep = isStored ? Math.min(position, this.#end) : position
    for (let first = this.#kept[0]; first !== undefined && this.#keptFrom < keep; first = this.#kept[0]) {
      const surplus = keep - this.#keptFrom
      if (first.length / 2 <= surplus) {
        this.#kept.shift()
        this.#keptFrom += first.length / 2
      } else {
        this.#kept[0] = first.subarray(2 * surplus)
        this.#keptFrom += surplus
      }
    }
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #reportGap(from: number, to: number): void {
    if (from < to) this.#events.push({type: 'gap', fromSec: from / sampleRate, toSec: to / sampleRate})
  }

  #lose(error: SvcError): void {
    // Without audio to send, the connection can wait.
    const canWait = this.#end === this.#keptFrom && !this.#isCommitted
    if (this.#isReady) {
      this.#lostAt = performance.now()
      if (!canWait) this.#events.push({type: 'connection', isConnected: false})
    }
    this.#isReady = false
    // A server that keeps nothing cannot continue: what it had not finished is lost.
    if (this.#remote?.isKept === false) {
      this.#reportGap(this.#finishedTo, this.#keptFrom)
      this.#forget()
    }
    const {delaysMs = [100, 250, 500, 1000, 2000], patienceMs = 300_000} = this.#options
    if (performance.now() - this.#lostAt > patienceMs) this.#fail(error)
    else if (!canWait) this.#reconnect(delaysMs[Math.min(this.#attempt++, delaysMs.length - 1)] ?? 0)
  }

  #reconnect(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (!this.#isClosed) this.#connect(false).catch(() => undefined)
    }, delayMs)
  }

  #fail(error: SvcError): void {
    if (this.#ended.signal.aborted) return
    this.#ended.abort(error)
    this.#resolveDone()
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
