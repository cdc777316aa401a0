import {randomUUID} from 'node:crypto'
import {join} from 'node:path'
import {decodeS16le} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import {
  type LiveCheckpoint,
  type LiveEvent,
  type LiveResumption,
  type LiveSession,
  newSessionId,
  type SessionRequest,
  type SpeechService,
  type UtteranceSpan,
} from '../../speech/index.js'
import {SessionFiles, type SessionInfo, type StoredSession} from './session-files.js'

/** Rate of the audio, Hz. */
const sampleRate = 16_000
/** Maximum audio without a stored result, and maximum gap in the audio of a client, seconds. */
const maxKeptSec = 300
/** Share of it from which a client has to wait. */
const busyShare = 0.8
/** Time after which a partial result is repeated to report the progress of the files, ms. */
const announceEveryMs = 500

/** A client of a session. */
export interface SessionClient {
  emit(event: LiveEvent): void
  /** Another client has resumed the session. */
  replaced(): void
  /** No audio arrives. @param error as an event reports it */
  idle(error: SvcError): void
  /** Speech was detected. @param startMs its start in the audio @param index number of the utterance */
  speechStarted?(startMs: number, index: number): void
  utteranceEnded?(span: UtteranceSpan, index: number): void
}

/** How a client connects to a session. */
export interface Attachment {
  /** Position of the first sample that the client sends; default: the end of the audio that the session has. */
  from?: number | undefined
  /** Number of final results that the client has. */
  finals?: number | undefined
}

export interface SessionOptions {
  id?: string
  silenceMs?: number | undefined
  once: boolean
  request: SessionRequest
}

export interface SessionContext {
  service: SpeechService
  /** Directory with a directory for each session; undefined keeps nothing. */
  folder: string | undefined
  onEnd(session: ServedSession): void
}

type Partial = Extract<LiveEvent, {type: 'partial'}>
type Final = Extract<LiveEvent, {type: 'final'}>

/**
 * A live session that outlives its connections. Audio and final results are in files, so that a client that lost its
 * connection, or a server that was killed, continues where it stopped.
 */
export class ServedSession {
  readonly info: SessionInfo
  readonly #context: SessionContext
  readonly #ended = new AbortController()
  #live: {session: LiveSession; close(): Promise<void>} | undefined
  #reading: Promise<void> | undefined
  #files: SessionFiles | undefined
  #finals: Final[] = []
  #client: SessionClient | undefined
  /** Audio of the client that the session already has, samples. */
  #skip = 0
  #received = 0
  /** Number and start of the current utterance. */
  #utterance = 0
  #utteranceStart = 0
  /** The partial result of the current utterance, and its number. */
  #partial: Partial | undefined
  #seq = 0
  /** When and up to where the progress of the files was reported last. */
  #announcedAt = 0
  #announced = 0
  #announcement: NodeJS.Timeout | undefined
  #isPaused = false

  private constructor(info: SessionInfo, context: SessionContext) {
    this.info = info
    this.#context = context
  }

  /** Starts a session, and loads the model if necessary. @throws overloaded; what `SpeechService.live` throws */
  static async create(
    {id = newSessionId(16), silenceMs, once, request}: SessionOptions,
    context: SessionContext,
  ): Promise<ServedSession> {
    const info = {id, correlationId: randomUUID(), silenceMs, once, prompt: request.prompt}
    const session = new ServedSession(info, context)
    await session.#start(request, undefined)
    if (context.folder === undefined) return session
    const state = {
      checkpoint: {start: 0, at: 0, detector: undefined},
      utterances: 0,
      pending: [],
      language: request.language_hint ?? undefined,
    }
    const folder = join(context.folder, info.id)
    try {
      session.#files = await SessionFiles.create(folder, info, state, (error) => session.#fail(error))
      return session
    } catch (error) {
      await session.end()
      throw error
    }
  }

  /** Continues a session of an earlier process from its files. @throws if they are incomplete; as `create` does */
  static async restore(folder: string, context: SessionContext): Promise<ServedSession> {
    let session: ServedSession | undefined
    const stored = await SessionFiles.load(folder, (error) => {
      if (session !== undefined) session.#fail(error)
    })
    session = new ServedSession(stored.info, context)
    session.#files = stored.files
    session.#finals = stored.finals
    session.#received = stored.files.end
    const {state, audio, audioStart} = stored
    const from = 2 * (state.checkpoint.start - audioStart)
    session.#utterance = state.utterances
    session.#utteranceStart = state.checkpoint.start
    const {prompt} = stored.info
    const request = {language_hint: state.language ?? null, ...(prompt === undefined ? {} : {prompt})}
    await session.#start(request, resumption(stored))
    session.#live?.session.push(decodeS16le(audio.subarray(from)))
    return session
  }

  get id(): string {
    return this.info.id
  }

  get correlationId(): string {
    return this.info.correlationId
  }

  /** True while a client is connected. */
  get isAttached(): boolean {
    return this.#client !== undefined
  }

  /** Number of the current utterance. */
  get utterance(): number {
    return this.#utterance
  }

  /** True if the current utterance has no audio. */
  get isUtteranceEmpty(): boolean {
    return this.#utteranceStart >= this.#received
  }

  /** Aborts when the session has failed, with its error as the reason. */
  get failed(): AbortSignal | undefined {
    return this.#live?.session.ended
  }

  /**
   * Connects a client, in place of the previous one: it receives `ready`, and the final results that it does not have.
   * @throws speech_gap_too_long
   */
  async attach(client: SessionClient, {from, finals = 0}: Attachment = {}): Promise<void> {
    await this.#files?.flush()
    const position = from ?? this.#received
    const gap = position - this.#received
    if (gap > maxKeptSec * sampleRate)
      throw new SvcError('speech_gap_too_long', {from: position, next_sample: this.#received, limit: maxKeptSec})
    this.#client?.replaced()
    this.#client = client
    if (this.#isPaused) this.#live?.session.continue()
    this.#isPaused = false
    // Audio that the client no longer has is silence, so that times stay right.
    if (gap > 0) this.#take(Buffer.alloc(2 * gap))
    this.#skip = Math.max(0, -gap)
    if (this.#live !== undefined) this.#send(this.#live.session.ready)
    for (const final of this.#finals) if (final.utterance >= finals) this.#send(final)
  }

  /** Disconnects a client; without it, the session expects no audio. Does nothing if another one has replaced it. */
  detach(client: SessionClient): boolean {
    if (this.#client !== client) return false
    this.#client = undefined
    this.#live?.session.pause()
    this.#isPaused = true
    return true
  }

  /** True if a client has nothing to resume: no audio, and no result. */
  get isEmpty(): boolean {
    return this.#received === 0 && this.#finals.length === 0
  }

  /** Adds complete samples, s16le mono at 16 kHz. */
  push(audio: Buffer): void {
    const skipped = Math.min(audio.length / 2, this.#skip)
    this.#skip -= skipped
    if (2 * skipped < audio.length) this.#take(audio.subarray(2 * skipped))
  }

  /** True if so much audio has no stored result that more should wait. */
  get isBehind(): boolean {
    return (this.#files?.kept ?? 0) > busyShare * maxKeptSec * sampleRate
  }

  /** Resolves when the audio so far is processed. */
  async settle(): Promise<void> {
    await this.#live?.session.settle()
  }

  /** Drops the audio of the current utterance. */
  async clear(): Promise<void> {
    await this.#live?.session.clear()
    this.#utteranceStart = this.#received
  }

  /** Ends the utterance; resolves when its final result was sent. */
  async commit(): Promise<void> {
    await this.#live?.session.commit()
  }

  /** @throws language_unsupported, and keeps the previous language */
  setLanguage(hint: string | undefined): void {
    this.#live?.session.setLanguage(hint)
    void this.#files?.update({language: hint})
  }

  /** Ends the session and deletes its files. */
  async end(): Promise<void> {
    this.#stop()
    this.#context.onEnd(this)
    await this.#close()
    await this.#files?.remove()
  }

  /** Stops without deleting the files. */
  async suspend(): Promise<void> {
    this.#stop()
    await this.#close()
    await this.#files?.close()
  }

  async #close(): Promise<void> {
    await this.#live?.close()
    await this.#reading
  }

  #stop(): void {
    clearTimeout(this.#announcement)
    this.#ended.abort(new SvcError('interrupted', {}))
  }

  async #start(request: SessionRequest, resume: LiveResumption | undefined): Promise<void> {
    const {service, folder} = this.#context
    const {id, correlationId, silenceMs, once} = this.info
    const keepsIdle = folder !== undefined
    const options = {id, correlationId, silenceMs, once, resume, keepsIdle, signal: this.#ended.signal}
    this.#live = await service.live(request, options)
    this.#reading = this.#read(this.#live.session)
  }

  async #read(session: LiveSession): Promise<void> {
    for await (const event of session)
      switch (event.type) {
        case 'checkpoint':
          this.#enter(event.checkpoint, event.ended)
          break
        case 'speech':
          this.#client?.speechStarted?.(event.startMs, this.#utterance)
          break
        case 'final':
          await this.#files?.finish(event.event.utterance, event.event)
          this.#emit(event.event)
          break
        case 'error':
          if (event.event.utterance !== undefined) await this.#files?.finish(event.event.utterance, undefined)
          this.#emit(event.event)
          break
        case 'partial':
        case 'heartbeat':
          this.#emit(event.event)
          break
        case 'idle':
          this.#client?.idle(event.error)
          break
        case 'warning':
          logger('speech_server').warn(event.warning.message)
          break
        case 'draft_failed':
          logger('speech_server').warn({err: event.error}, 'a partial result failed')
          break
        default:
      }
  }

  /** A later state to continue from, with the next utterance if one has ended. */
  #enter(checkpoint: LiveCheckpoint, ended: UtteranceSpan | undefined): void {
    if (ended !== undefined) {
      this.#partial = undefined
      this.#seq = 0
      this.#utteranceStart = ended.end
      const index = this.#utterance++
      this.#client?.utteranceEnded?.(ended, index)
    }
    void this.#files?.checkpoint(checkpoint, ended)
  }

  #take(audio: Buffer): void {
    this.#received += audio.length / 2
    this.#live?.session.push(decodeS16le(audio))
    const files = this.#files
    if (files === undefined) return
    files.append(audio)
    const limit = maxKeptSec * sampleRate
    if (files.kept > limit) this.#fail(new SvcError('buffer_overflow', {max_buffer_ms: 1000 * maxKeptSec}))
    else this.#announceSoon()
  }

  #emit(event: LiveEvent): void {
    if (event.type === 'final') this.#finals.push(event)
    const sent = event.type === 'partial' ? {...event, seq: ++this.#seq} : event
    if (sent.type === 'partial') this.#partial = sent
    this.#send(sent)
  }

  #announceSoon(): void {
    const wait = this.#announcedAt + announceEveryMs - performance.now()
    this.#announcement ??= setTimeout(
      () => {
        this.#announcement = undefined
        if ((this.#files?.durable ?? 0) > this.#announced) this.#announce()
        if (this.#announced < this.#received && !this.#ended.signal.aborted) this.#announceSoon()
      },
      Math.max(announceEveryMs / 10, wait),
    ).unref()
  }

  /** Repeats the partial result to report how much audio is on the disk. */
  #announce(): void {
    const {correlationId} = this.info
    const nothing = {text: '', stable_text: '', confidence: 0, n_best: null}
    const partial = this.#partial ?? {type: 'partial', correlation_id: correlationId, ...nothing}
    this.#partial = {...partial, seq: ++this.#seq}
    this.#send(this.#partial)
  }

  #send(event: LiveEvent): void {
    const reports = event.type === 'ready' || event.type === 'partial' || event.type === 'final'
    if (reports) {
      this.#announcedAt = performance.now()
      this.#announced = this.#files?.durable ?? 0
    }
    this.#client?.emit(reports && this.#files !== undefined ? {...event, next_sample: this.#files.durable} : event)
  }

  /** Ends the session because its files or its buffer failed. */
  #fail(error: unknown): void {
    this.#live?.session.fail(error)
  }
}

const resumption = ({state, audio, audioStart}: StoredSession): LiveResumption => ({
  checkpoint: state.checkpoint,
  utterances: state.utterances,
  pending: state.pending.map(({index, span}) => ({
    index,
    span,
    samples: decodeS16le(audio.subarray(2 * (span.start - audioStart), 2 * (span.end - audioStart))),
  })),
})
