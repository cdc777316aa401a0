import {randomUUID} from 'node:crypto'
import type {FastifyRequest} from 'fastify'
import type {WebSocket} from 'ws'
import {decodeS16le, encodeS16le, resampler} from '../../audio/index.js'
import {isObject} from '../../contracts/index.js'
import {asOpenAiError, isErrorOf, SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {HttpApp} from '../../net/index.js'
import {type LiveEvent, newSessionId, type UtteranceSpan} from '../../speech/index.js'
import {Close, LiveConnection, liveRoute} from '../live-connection.js'
import type {Attachment, ServedSession} from '../sessions/session.js'
import type {Sessions} from '../sessions/sessions.js'
import {readAttachment} from '../sockets.js'
import {requireServed, type ServedSpeechModel} from './models.js'
import {type ClientEvent, checkedEvent, type RealtimeSessionFields, realtimeError} from './realtime-fields.js'
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

/**
 * Adds the WebSocket route of the OpenAI Realtime API, for transcription sessions. `?session=ID` continues a session after
 * a lost connection, as on the own route for live audio.
 */
export function realtimeRoute(app: HttpApp, options: RealtimeOptions): void {
  liveRoute(app, {
    url: realtimePath,
    async admit(query) {
      const {intent = 'transcription', model} = query as {intent?: string; model?: string}
      if (intent !== 'transcription')
        throw new SvcError('unsupported_value', {
          reason: `this server supports only intent=transcription, not ${JSON.stringify(intent).slice(0, 60)}.`,
          param: 'intent',
        })
      const served = await options.model()
      if (served !== null) requireServed(model || undefined, served)
      await options.sessions.admit(readAttachment(query).session)
    },
    connect: (socket, request) => new RealtimeConnection(socket, request, options),
    connections: options.connections,
  })
}

/** A client of the Realtime API. Utterances of the session are items of its conversation. */
class RealtimeConnection extends LiveConnection {
  readonly #options: RealtimeOptions
  readonly #attachment: Attachment & {session: string | undefined}
  #id: string
  #served: string | undefined
  #settings = defaultRealtimeSettings
  #resampler: ReturnType<typeof resampler> | undefined
  /** Messages are handled in order. */
  #work: Promise<void> = Promise.resolve()
  #nextSample: number | undefined
  /** The text of each utterance that was sent, until its final result. */
  readonly #sent = new Map<number, string>()
  #hasStarted = false
  #lastItem: string | null = null

  constructor(socket: WebSocket, request: FastifyRequest, options: RealtimeOptions) {
    super(socket, request, options.sessions)
    this.#options = options
    this.#attachment = readAttachment(request.query)
    this.#id = this.#attachment.session ?? newSessionId(16)
  }

  async start(): Promise<void> {
    const {session} = this.#attachment
    this.socket.pause()
    this.#served = (await this.#options.model())?.name
    if (session !== undefined) await this.#enter()
    this.#sendEvent('session.created', {session: this.#description})
    this.socket.on('message', (data: Buffer, isBinary) => {
      this.socket.pause()
      this.#work = this.#work.then(() => this.#handle(data, isBinary)).finally(() => this.socket.resume())
    })
    this.socket.resume()
  }

  fail(thrown: unknown): void {
    this.#sendError(SvcError.from(thrown), undefined)
    this.socket.resume()
    this.socket.close(Close.internal)
  }

  /** Clients of this API may be silent for any time. */
  idle(): void {}

  speechStarted(startMs: number, index: number): void {
    // Clients that end utterances themselves do not expect reports of the detector.
    if (this.#settings.silenceMs === undefined) return
    this.#hasStarted = true
    this.#sendEvent('input_audio_buffer.speech_started', {
      audio_start_ms: Math.round(startMs),
      item_id: this.#item(index),
    })
  }

  utteranceEnded({end}: UtteranceSpan, index: number): void {
    const item = this.#item(index)
    if (this.#hasStarted)
      this.#sendEvent('input_audio_buffer.speech_stopped', {
        audio_end_ms: Math.round((1000 * end) / sessionRate),
        item_id: item,
      })
    this.#hasStarted = false
    this.#sendEvent('input_audio_buffer.committed', {previous_item_id: this.#lastItem, item_id: item})
    const content = [{type: 'input_audio', transcript: null}]
    this.#sendEvent('conversation.item.added', {
      previous_item_id: this.#lastItem,
      item: {id: item, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content},
    })
    this.#lastItem = item
  }

  emit(event: LiveEvent): void {
    if ('next_sample' in event) this.#nextSample = event.next_sample
    if (event.type === 'heartbeat') this.ping()
    else if (event.type === 'partial') this.#sendDelta(this.#utterance, event.stable_text)
    else if (event.type === 'final') this.#complete(event)
    else if (event.type === 'error') this.#reportFailure(event)
  }

  /** Number of the current utterance. */
  get #utterance(): number {
    return this.session?.utterance ?? 0
  }

  get #description(): object {
    return sessionObject(this.#id, this.#settings, this.#served, this.#nextSample)
  }

  #item(index: number): string {
    return `item_${this.#id.slice(-12)}_${index}`
  }

  #sendDelta(index: number, text: string): void {
    const before = this.#sent.get(index) ?? ''
    if (!text.startsWith(before) || text === before) return
    this.#sent.set(index, text)
    const delta = text.slice(before.length)
    this.#sendEvent('conversation.item.input_audio_transcription.delta', {
      item_id: this.#item(index),
      content_index: 0,
      delta,
    })
  }

  #complete({text, start_ms: start, end_ms: end, utterance}: Extract<LiveEvent, {type: 'final'}>): void {
    this.#options.onTranscribed?.((end - start) / 1000)
    this.#sendDelta(utterance, text)
    this.#sent.delete(utterance)
    this.#sendEvent('conversation.item.input_audio_transcription.completed', {
      item_id: this.#item(utterance),
      content_index: 0,
      transcript: text,
      usage: {type: 'duration', seconds: (end - start) / 1000},
    })
  }

  #reportFailure({error: code, message, utterance}: Extract<LiveEvent, {type: 'error'}>): void {
    const error = {type: 'server_error', code, message, param: null}
    if (utterance === undefined) {
      this.#sendEvent('error', {error: {...error, event_id: null}})
      if (this.session?.failed?.aborted) this.socket.close(code === 'buffer_overflow' ? Close.tooBig : Close.internal)
    } else
      this.#sendEvent('conversation.item.input_audio_transcription.failed', {
        item_id: this.#item(utterance),
        content_index: 0,
        error,
      })
  }

  async #handle(data: Buffer, isBinary: boolean): Promise<void> {
    let eventId: unknown
    try {
      if (isBinary) throw realtimeError('invalid_event', 'The message is binary; events are JSON texts.')
      const event = parseEvent(data)
      eventId = (event as {event_id?: unknown}).event_id
      await this.#perform(checkedEvent(event))
    } catch (error) {
      this.#sendError(SvcError.from(error), eventId)
    }
  }

  async #perform({type, session = {}, audio = '', event_id: eventId}: ClientEvent): Promise<void> {
    if (type === 'session.update') await this.#update(session)
    else if (type === 'input_audio_buffer.append') await this.#append(audio)
    else if (type === 'input_audio_buffer.commit') this.#commit(eventId)
    else await this.#clear()
  }

  async #update(fields: RealtimeSessionFields): Promise<void> {
    const settings = updatedSettings(this.#settings, fields)
    await this.#require(settings)
    if (this.session !== undefined) {
      const {silenceMs, prompt, rate} = this.#settings
      const input = 'session.audio.input'
      const changed = [
        ...(settings.rate === rate ? [] : [`${input}.format.rate`]),
        ...(settings.prompt === prompt ? [] : [`${input}.transcription.prompt`]),
        ...(settings.silenceMs === silenceMs ? [] : [`${input}.turn_detection`]),
      ]
      if (changed[0] !== undefined)
        throw realtimeError('invalid_value', `${changed.join(', ')} cannot change after the first audio.`, changed[0])
      if (settings.language !== this.#settings.language) this.session.setLanguage(settings.language)
    }
    this.#settings = settings
    this.#sendEvent('session.updated', {session: this.#description})
  }

  /** @throws bad_request if the model is not the served one, or does not know the language */
  async #require({model, language}: RealtimeSettings): Promise<void> {
    const place = 'session.audio.input.transcription'
    try {
      if (this.#served !== undefined) requireServed(model, {name: this.#served, dir: ''})
      if (language !== undefined && language !== this.#settings.language) await this.sessions.requireLanguage(language)
    } catch (error) {
      if (isErrorOf(error, 'model_not_served')) throw realtimeError('model_not_found', error.message, `${place}.model`)
      if (isErrorOf(error, 'language_unsupported'))
        throw realtimeError('invalid_value', error.message, `${place}.language`)
      throw error
    }
  }

  async #append(audio: string): Promise<void> {
    if (!/^[\w+/=-]*$/.test(audio)) throw realtimeError('invalid_value', 'audio is not a base64 text.', 'audio')
    const session = await this.#enter()
    const samples = this.samplesOf(Buffer.from(audio, 'base64'))
    const {rate} = this.#settings
    if (rate === sessionRate) session.push(samples)
    else {
      this.#resampler ??= resampler(rate, sessionRate)
      session.push(encodeS16le(this.#resampler.push(decodeS16le(samples))))
    }
    if (session.isBehind) await session.settle()
  }

  #commit(eventId: unknown): void {
    const {session} = this
    if (session === undefined || session.isUtteranceEmpty)
      throw realtimeError('input_audio_buffer_commit_empty', 'The audio buffer is empty.')
    // Its result is sent when it is ready; later events do not wait for it.
    session.commit().catch((error: unknown) => this.#sendError(SvcError.from(error), eventId))
  }

  async #clear(): Promise<void> {
    await this.session?.clear()
    this.half = Buffer.alloc(0)
    this.#hasStarted = false
    this.#sendEvent('input_audio_buffer.cleared', {})
  }

  async #enter(): Promise<ServedSession> {
    if (this.session !== undefined) return this.session
    const {session: resumed} = this.#attachment
    const {silenceMs, language, prompt}: RealtimeSettings = this.#settings
    const session = await this.enter(resumed, {
      id: this.#id,
      silenceMs,
      once: false,
      request: {
        ...(language === undefined ? {} : {language_hint: language}),
        ...(prompt === undefined ? {} : {prompt}),
      },
    })
    if (session === undefined) throw new SvcError('interrupted', {})
    if (resumed !== undefined) this.#settings = {...this.#settings, silenceMs: session.info.silenceMs}
    await session.attach(this, this.#attachment)
    return session
  }

  #sendError(error: SvcError, cause: unknown): void {
    if (error.status >= 500) logger('speech_server').error({err: error, code: error.code}, error.message)
    const {error: body} = asOpenAiError(error) as {error: object}
    this.#sendEvent('error', {error: {...body, event_id: typeof cause === 'string' ? cause : null}})
  }

  #sendEvent(type: string, content: object): void {
    this.send({type, event_id: `event_${randomUUID()}`, ...content})
  }
}

/** @throws bad_request */
function parseEvent(data: Buffer): object {
  try {
    const event: unknown = JSON.parse(data.toString('utf8'))
    if (isObject(event)) return event
  } catch {}
  throw realtimeError('invalid_event', 'The message is not the JSON text of an object.')
}
