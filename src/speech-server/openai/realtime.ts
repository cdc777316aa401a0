import {randomUUID} from 'node:crypto'
import type {FastifyRequest} from 'fastify'
import type {WebSocket} from 'ws'
import {decodeS16le, encodeS16le, resampler} from '../../audio/index.js'
import {asOpenAiError, SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {HttpApp} from '../../net/index.js'
import {type LiveEvent, newSessionId, type UtteranceSpan} from '../../speech/index.js'
import type {Attachment, Session, SessionClient} from '../sessions/session.js'
import type {Sessions} from '../sessions/sessions.js'
import {Close, interruptions, type LiveConnection, maxWaitingBytes, readAttachment} from '../sockets.js'
import {requireServed, type ServedSpeechModel} from './models.js'
import {defaultRealtimeSettings, type RealtimeSettings, sessionObject, updatedSettings} from './realtime-session.js'

export const realtimePath = '/v1/realtime'

/** Rate of sessions, Hz. */
const sessionRate = 16_000
export interface RealtimeOptions {
  sessions: Sessions
  model(): Promise<ServedSpeechModel>
  connections: Set<LiveConnection>
  /** @param seconds duration of the utterance */
  onTranscribed?: ((seconds: number) => void) | undefined
}

type ClientEvent = Partial<Record<string, unknown>>

/**
 * Adds the WebSocket route of the OpenAI Realtime API, for transcription sessions. `?session=ID` continues a session after
 * a lost connection, as on the own route for live audio.
 */
export function realtimeRoute(app: HttpApp, options: RealtimeOptions): void {
  app.route({
    method: 'GET',
    url: realtimePath,
    exposeHeadRoute: false,
    preHandler: async ({query}) => {
      const {intent = 'transcription'} = query as {intent?: string}
      if (intent !== 'transcription')
        throw new SvcError('unsupported_value', {
          reason: `this server supports only intent=transcription, not ${JSON.stringify(intent).slice(0, 60)}.`,
          param: 'intent',
        })
      await options.sessions.admit(readAttachment(query).session)
    },
    handler: () => {
      throw new SvcError('bad_request', {reason: 'This route accepts only WebSocket connections.'})
    },
    wsHandler: (socket, request) => {
      const connection = new RealtimeConnection(socket, request, options)
      options.connections.add(connection)
      socket.once('close', () => options.connections.delete(connection))
      connection.start().catch((error: unknown) => connection.fail(error))
    },
  })
}

/** A client of the Realtime API. Utterances of the session are items of its conversation. */
class RealtimeConnection implements SessionClient, LiveConnection {
  readonly #socket: WebSocket
  readonly #options: RealtimeOptions
  readonly #attachment: Attachment & {session: string | undefined}
  #id: string
  #served: string | undefined
  #settings = defaultRealtimeSettings
  #session: Session | undefined
  #hasLeft = false
  #resampler: ReturnType<typeof resampler> | undefined
  /** Messages are handled in order. */
  #work: Promise<void> = Promise.resolve()
  #nextSample: number | undefined
  /** The text of each utterance that was sent, until its final result. */
  readonly #sent = new Map<number, string>()
  #hasStarted = false
  #lastItem: string | null = null

  constructor(socket: WebSocket, {query, id}: FastifyRequest, options: RealtimeOptions) {
    this.#socket = socket
    this.#options = options
    this.#attachment = readAttachment(query)
    this.#id = this.#attachment.session ?? newSessionId(16)
    socket.removeAllListeners('error')
    socket.on('error', (err) => logger('speech_server').info({err, id}, 'a connection failed'))
    socket.once('close', (code) => this.#leave(!interruptions.has(code)))
  }

  async start(): Promise<void> {
    const {session} = this.#attachment
    this.#socket.pause()
    this.#served = (await this.#options.model())?.name
    if (session !== undefined) await this.#enter()
    this.#send('session.created', {session: this.#description})
    this.#socket.on('message', (data: Buffer, isBinary) => {
      this.#socket.pause()
      this.#work = this.#work.then(() => this.#handle(data, isBinary)).finally(() => this.#socket.resume())
    })
    this.#socket.resume()
  }

  fail(thrown: unknown): void {
    this.#sendError(SvcError.from(thrown), undefined)
    this.#socket.resume()
    this.#socket.close(Close.internal)
  }

  shutDown(): void {
    this.#socket.close(Close.shutdown, 'the server is stopping')
  }

  terminate(): void {
    this.#socket.terminate()
  }

  replaced(): void {
    this.#socket.close(Close.policy, 'another connection continues the session')
  }

  /** Clients of this API may be silent for any time. */
  idle(): void {}

  speechStarted(startMs: number, index: number): void {
    this.#hasStarted = true
    this.#send('input_audio_buffer.speech_started', {audio_start_ms: Math.round(startMs), item_id: this.#item(index)})
  }

  utteranceEnded({end}: UtteranceSpan, index: number): void {
    const item = this.#item(index)
    if (this.#hasStarted && this.#settings.silenceMs !== undefined)
      this.#send('input_audio_buffer.speech_stopped', {
        audio_end_ms: Math.round((1000 * end) / sessionRate),
        item_id: item,
      })
    this.#hasStarted = false
    this.#send('input_audio_buffer.committed', {previous_item_id: this.#lastItem, item_id: item})
    const content = [{type: 'input_audio', transcript: null}]
    this.#send('conversation.item.added', {
      previous_item_id: this.#lastItem,
      item: {id: item, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content},
    })
    this.#lastItem = item
  }

  emit(event: LiveEvent): void {
    if ('next_sample' in event) this.#nextSample = event.next_sample
    if (event.type === 'heartbeat') this.#ping()
    else if (event.type === 'partial') this.#sendDelta(this.#utterance, event.stable_text)
    else if (event.type === 'final') this.#complete(event)
    else if (event.type === 'error') this.#reportFailure(event)
  }

  /** Number of the current utterance. */
  get #utterance(): number {
    return this.#session?.utterance ?? 0
  }

  get #description(): object {
    return sessionObject(this.#id, this.#settings, this.#served, this.#nextSample)
  }

  #item(index: number): string {
    return `item_${this.#id.slice(-12)}_${index}`
  }

  #ping(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }

  #sendDelta(index: number, text: string): void {
    const before = this.#sent.get(index) ?? ''
    if (!text.startsWith(before) || text === before) return
    this.#sent.set(index, text)
    const delta = text.slice(before.length)
    this.#send('conversation.item.input_audio_transcription.delta', {
      item_id: this.#item(index),
      content_index: 0,
      delta,
    })
  }

  #complete({text, start_ms: start, end_ms: end, utterance}: Extract<LiveEvent, {type: 'final'}>): void {
    this.#options.onTranscribed?.((end - start) / 1000)
    this.#sendDelta(utterance, text)
    this.#sent.delete(utterance)
    this.#send('conversation.item.input_audio_transcription.completed', {
      item_id: this.#item(utterance),
      content_index: 0,
      transcript: text,
      usage: {type: 'duration', seconds: (end - start) / 1000},
    })
  }

  #reportFailure({error: code, message, utterance}: Extract<LiveEvent, {type: 'error'}>): void {
    const error = {type: 'server_error', code, message, param: null}
    if (utterance === undefined) {
      this.#send('error', {error: {...error, event_id: null}})
      if (this.#session?.failed?.aborted) this.#socket.close(code === 'buffer_overflow' ? Close.tooBig : Close.internal)
    } else
      this.#send('conversation.item.input_audio_transcription.failed', {
        item_id: this.#item(utterance),
        content_index: 0,
        error,
      })
  }

  async #handle(data: Buffer, isBinary: boolean): Promise<void> {
    let event: ClientEvent = {}
    try {
      if (isBinary) throw new SvcError('bad_request', {reason: 'A message is binary; events are JSON texts.'})
      event = parseEvent(data)
      await this.#perform(event)
    } catch (error) {
      this.#sendError(SvcError.from(error), event.event_id)
    }
  }

  async #perform(event: ClientEvent): Promise<void> {
    if (event.type === 'session.update') return this.#update(event.session)
    if (event.type === 'input_audio_buffer.append') return this.#append(event.audio)
    if (event.type === 'input_audio_buffer.commit') return this.#commit()
    if (event.type === 'input_audio_buffer.clear') {
      await this.#session?.clear()
      this.#hasStarted = false
      return this.#send('input_audio_buffer.cleared', {})
    }
    throw new SvcError('unsupported_value', {
      reason: `this server does not support events of the type ${JSON.stringify(event.type)?.slice(0, 80)}.`,
      param: 'type',
    })
  }

  #update(session: unknown): void {
    const settings = updatedSettings(this.#settings, session)
    if (this.#served !== undefined && settings.model !== undefined)
      requireServed(settings.model, {name: this.#served, dir: ''})
    const started = this.#session
    if (started !== undefined) {
      const {silenceMs, prompt, rate} = this.#settings
      if (settings.silenceMs !== silenceMs || settings.prompt !== prompt || settings.rate !== rate)
        throw new SvcError('unsupported_value', {
          reason: 'format, prompt and turn_detection cannot change after the first audio.',
          param: 'session.audio.input',
        })
      if (settings.language !== this.#settings.language) started.setLanguage(settings.language)
    }
    this.#settings = settings
    this.#send('session.updated', {session: this.#description})
  }

  async #append(audio: unknown): Promise<void> {
    if (typeof audio !== 'string' || !/^[\w+/=-]*$/.test(audio))
      throw new SvcError('bad_request', {reason: 'audio is not a base64 text.', param: 'audio'})
    const bytes = Buffer.from(audio, 'base64')
    if (bytes.length % 2 !== 0)
      throw new SvcError('bad_request', {reason: 'audio ends within a sample of 16 bits.', param: 'audio'})
    const session = await this.#enter()
    const {rate} = this.#settings
    if (rate === sessionRate) session.push(bytes)
    else {
      this.#resampler ??= resampler(rate, sessionRate)
      session.push(encodeS16le(this.#resampler.push(decodeS16le(bytes))))
    }
    if (session.isBehind) await session.settle()
  }

  async #commit(): Promise<void> {
    const session = this.#session
    if (session === undefined || session.isUtteranceEmpty)
      throw new SvcError('bad_request', {reason: 'The audio buffer is empty.', param: 'input_audio_buffer'})
    // Its result is sent when it is ready; later events do not wait for it.
    session.commit().catch((error: unknown) => this.#sendError(SvcError.from(error), undefined))
  }

  async #enter(): Promise<Session> {
    if (this.#session !== undefined) return this.#session
    const {session: resumed} = this.#attachment
    const {silenceMs, language, prompt}: RealtimeSettings = this.#settings
    const session = await this.#options.sessions.enter(resumed, {
      id: this.#id,
      silenceMs,
      once: false,
      request: {
        ...(language === undefined ? {} : {language_hint: language}),
        ...(prompt === undefined ? {} : {prompt}),
      },
    })
    this.#session = session
    if (this.#hasLeft) {
      await this.#options.sessions.leave(session, this, false)
      throw new SvcError('interrupted', {})
    }
    if (resumed !== undefined) this.#settings = {...this.#settings, silenceMs: session.info.silenceMs}
    await session.attach(this, this.#attachment)
    return session
  }

  #leave(isOver: boolean): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    if (this.#session === undefined) return
    this.#options.sessions
      .leave(this.#session, this, isOver)
      .catch((err: unknown) => logger('speech_server').error({err}, 'a session failed'))
  }

  #sendError(error: SvcError, cause: unknown): void {
    if (error.status >= 500) logger('speech_server').error({err: error, code: error.code}, error.message)
    const {error: body} = asOpenAiError(error) as {error: object}
    this.#send('error', {error: {...body, event_id: typeof cause === 'string' ? cause : null}})
  }

  #send(type: string, content: object): void {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > maxWaitingBytes) socket.terminate()
    else socket.send(JSON.stringify({type, event_id: `event_${randomUUID()}`, ...content}))
  }
}

/** @throws bad_request */
function parseEvent(data: Buffer): ClientEvent {
  try {
    const event: unknown = JSON.parse(data.toString('utf8'))
    if (typeof event === 'object' && event !== null && !Array.isArray(event)) return event
  } catch {}
  throw new SvcError('bad_request', {reason: 'A message is not a JSON object.'})
}
