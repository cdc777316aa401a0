import {randomUUID} from 'node:crypto'
import {type AudioInput, openAudio} from '../../audio/index.js'
import type {speechSessionSettings, TableValues} from '../../config/index.js'
import type {TranscribeV1} from '../../contracts/index.js'
import type {SvcError} from '../../errors/index.js'
import {containedPath} from '../../files/index.js'
import type {LiveSettings} from '../live/live-transcription.js'
import {sampleRate} from '../model/model.js'
import {LiveSession, type LiveSessionRequest} from '../session/live-session.js'
import {newSessionId, type SessionLimits, sessionLimits} from '../session/session.js'
import {SessionResult} from '../session/session-result.js'
import {transcribeWithin} from '../session/within-limits.js'
import {requireLanguage} from '../text/language-hint.js'
import type {TranscribedFile, TranscribeHandlers, TranscriberOptions} from '../transcriber/options.js'
import {partialWriter} from '../transcriber/partial-file.js'
import {isTextFile} from '../transcriber/text-file.js'
import {Transcriber} from '../transcriber/transcriber.js'
import {type PayloadOptions, transcribePayload} from './payload.js'
import {RequestQueue} from './queue.js'
import {type ModelChoice, SharedModel} from './shared-model.js'

/** The settings of one call. */
export interface SpeechCallSettings extends ModelChoice {
  transcriber: Omit<TranscriberOptions, 'model'>
  /** The settings of sessions. */
  session: TableValues<typeof speechSessionSettings>
  /** The settings of live audio. */
  live: LiveSettings
  /** File that receives partial results. */
  partial: {path: string; chunkSec: number} | undefined
  /** The settings as diagnostic output. */
  runtime: object
}

export interface SpeechServiceOptions {
  /** Directory that contains all recordings; others are refused. */
  root: string
  /** Reads the settings, for each call again. */
  settings(choice: SettingChoice): Promise<SpeechCallSettings>
}

/** Fields of a request that replace settings. */
export interface SettingChoice {
  profile?: RefineProfile
  task?: 'transcribe' | 'translate'
  word_timestamps?: boolean
  /** Text that sets style and spelling, as if it preceded the recording. */
  prompt?: string
  /** Initial decoding temperature, 0 to 1. */
  temperature?: number
}

export type RefineProfile = TranscriberOptions['text']['profile']

/** Fields of requests for a session, as tools, methods and HTTP clients send them. */
export interface SessionRequest extends SettingChoice {
  language_hint?: string | null
  debug_parser_payload?: boolean
  timeout_ms?: number
  max_duration_ms?: number
  inference_deadline_ms?: number
  heartbeat_ms?: number
}

export interface CallHooks {
  signal: AbortSignal
  report: (progress: {done: number; total?: number; message?: string}) => void
  notice: (text: string) => void
}

/** A transcribed recording, with what belongs to its payload. */
interface TranscribedCall extends Required<Pick<PayloadOptions, 'correlationId' | 'diagnostics'>> {
  file: TranscribedFile
  settings: SpeechCallSettings
}

/** A recording that was transcribed as a session. */
export interface HeardRecording {
  session: LiveSession
  result: SessionResult
  path: string
  limits: SessionLimits
  language: string | undefined
  settings: SpeechCallSettings
  /** Aborts when the caller or the service ends. */
  signal: AbortSignal
}

/** Silence that ends an utterance of a recording, ms. */
const endpointMs = 400

/**
 * Speech recognition for the clients of a long-running process. All calls share one model, which is opened on first use
 * and replaced when the settings select another one. Recordings are transcribed one at a time, next to live sessions.
 */
export class SpeechService {
  readonly queue = new RequestQueue()
  readonly #options: SpeechServiceOptions
  readonly #model = new SharedModel()
  readonly #closing = new AbortController()

  constructor(options: SpeechServiceOptions) {
    this.#options = options
  }

  /** Directory that contains all recordings. */
  get root(): string {
    return this.#options.root
  }

  /** True if the model is loaded or being loaded. */
  get isLoaded(): boolean {
    return this.#model.isLoaded
  }

  /**
   * Transcribes a recording, or cleans up the text of a `.txt` or `.md` file. Only the limits of the request apply.
   * @throws path_denied, overloaded, speech_capture_timeout, speech_inference_timeout, speech_deadline_exceeded; what
   *   `Transcriber.transcribe` throws
   */
  async transcribe(request: SessionRequest & {path: string}, hooks: CallHooks): Promise<TranscribeV1> {
    const path = await containedPath(this.#options.root, request.path)
    return this.transcribeInput({path}, path, request, hooks)
  }

  /** Transcribes a recording from anywhere. @param name the path in the result */
  async transcribeInput(
    input: AudioInput,
    name: string,
    request: SessionRequest,
    hooks: CallHooks,
  ): Promise<TranscribeV1> {
    const {file, settings, ...call} = await this.#transcribe(input, request, hooks)
    return transcribePayload(file, {
      ...call,
      path: name,
      refined: true,
      minConfidence: settings.session.toolRouteMinConfidence,
      runtime: request.debug_parser_payload === true ? settings.runtime : undefined,
    })
  }

  /**
   * Transcribes a recording from anywhere.
   * @throws what `transcribe` throws
   */
  async transcribeFile(
    input: AudioInput,
    request: SessionRequest,
    hooks: CallHooks & Pick<TranscribeHandlers, 'onSegment'>,
  ): Promise<TranscribedFile> {
    return (await this.#transcribe(input, request, hooks)).file
  }

  async #transcribe(
    input: AudioInput,
    request: SessionRequest,
    {onSegment, ...hooks}: CallHooks & Pick<TranscribeHandlers, 'onSegment'>,
  ): Promise<TranscribedCall> {
    const limits = sessionLimits(requestedLimits(request), {})
    const signal = AbortSignal.any([hooks.signal, this.#closing.signal])
    return this.queue.run(
      () =>
        this.#use(request, async (settings, transcriber) => {
          const correlationId = randomUUID()
          const progress = reportProgress(hooks.report, request.heartbeat_ms ?? settings.session.heartbeatMs)
          const partial =
            settings.partial && partialWriter(settings.partial.path, {...settings.partial, sessionId: correlationId})
          try {
            const transcribed = await transcribeWithin(limits, transcriber, input, {
              signal,
              language: request.language_hint ?? undefined,
              onWarning: ({message}) => hooks.notice(`warning: ${message}`),
              onStart: (durationSec) => {
                progress.start(durationSec)
                partial?.start(durationSec)
              },
              onSegment,
              onProgress: progress.advance,
              onChunk: partial?.write,
            })
            return {...transcribed, correlationId, settings}
          } finally {
            progress.stop()
          }
        }),
      signal,
    )
  }

  /**
   * Transcribes a recording as a live session does: utterance by utterance, each within the limits of the request or of
   * the settings.
   * @param use uses what was heard, before the next recording is transcribed
   * @throws what `transcribe` and `use` throw
   */
  async listen<T>(
    request: SessionRequest & {path: string; session_id?: string},
    hooks: CallHooks,
    use: (heard: HeardRecording) => Promise<T>,
  ): Promise<T> {
    const path = await containedPath(this.#options.root, request.path)
    const signal = AbortSignal.any([hooks.signal, this.#closing.signal])
    return this.queue.run(
      () =>
        this.#use(request, async (settings, transcriber) => {
          const limits = sessionLimits(requestedLimits(request), settings.session)
          const language = request.language_hint ?? undefined
          const heartbeatMs = request.heartbeat_ms ?? settings.session.heartbeatMs
          const result = new SessionResult()
          const progress = reportProgress(hooks.report, heartbeatMs)
          const isText = isTextFile(path)
          const session = await LiveSession.start({
            ...liveDefaults(settings, request.session_id),
            transcriber,
            heartbeatMs,
            isLive: !isText,
            limits,
            language,
            silenceMs: endpointMs,
            signal,
          })
          let failure: SvcError | undefined
          const reading = (async () => {
            for await (const event of session)
              if (event.type === 'final') {
                progress.advance(event.event.end_ms / 1000)
                result.add(event)
              } else if (event.type === 'error') failure ??= event.error
              else if (event.type === 'warning') hooks.notice(`warning: ${event.warning.message}`)
          })()
          try {
            if (isText) await session.addText(path)
            else await feed(session, path, progress, {...hooks, signal})
            if (failure !== undefined) throw failure
            return await use({session, result, path, limits, language, settings, signal})
          } finally {
            progress.stop()
            await session.close()
            await reading
          }
        }),
      signal,
    )
  }

  /**
   * Starts a live session, and loads the model if necessary. `close` of the returned session must be called.
   * @throws overloaded; what `LiveSession.start` throws
   */
  async live(
    request: SessionRequest,
    {id, ...options}: Omit<LiveSessionRequest, 'language'>,
  ): Promise<{session: LiveSession; close(): Promise<void>}> {
    this.queue.refuseIfFull()
    const settings = await this.#options.settings(request)
    const model = this.#model.acquire(settings)
    try {
      const {heartbeat_ms: heartbeatMs = settings.session.heartbeatMs, language_hint: hint} = request
      const session = await LiveSession.start({
        ...liveDefaults(settings, id),
        transcriber: new Transcriber({...settings.transcriber, model: model.holder}),
        limits: sessionLimits(requestedLimits(request), settings.session),
        language: hint ?? undefined,
        heartbeatMs,
        perform: (work) => this.queue.count(work),
        ...options,
      })
      return {
        session,
        close: async () => {
          await session.close()
          model.release()
        },
      }
    } catch (error) {
      model.release()
      throw error
    }
  }

  /**
   * Loads the model, so that the first request does not wait for it.
   * @param language a language that live audio will have
   * @throws language_unsupported; what `ModelHolder.open` throws
   */
  async load(signal: AbortSignal, language?: string): Promise<void> {
    const settings = await this.#options.settings({})
    const model = this.#model.acquire(settings)
    try {
      const {engine} = await model.holder.open(signal)
      requireLanguage(language, engine.description, {isStrict: true})
    } finally {
      model.release()
    }
  }

  /** Aborts running requests and closes the model. Live sessions must be closed before. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.queue.settled()
    await this.#model.close()
  }

  async #use<T>(
    choice: SettingChoice,
    work: (settings: SpeechCallSettings, transcriber: Transcriber) => Promise<T>,
  ): Promise<T> {
    const settings = await this.#options.settings(choice)
    const model = this.#model.acquire(settings)
    try {
      return await work(settings, new Transcriber({...settings.transcriber, model: model.holder}))
    } finally {
      model.release()
    }
  }
}

const requestedLimits = (request: SessionRequest): SessionLimits => ({
  captureTimeoutMs: request.timeout_ms,
  maxDurationMs: request.max_duration_ms,
  inferenceDeadlineMs: request.inference_deadline_ms,
})

const liveDefaults = ({live, session, partial}: SpeechCallSettings, id: string = newSessionId()) => ({
  ...live,
  id,
  heartbeatMs: session.heartbeatMs,
  partial: partial && partialWriter(partial.path, {...partial, sessionId: id}),
})

/** Passes a recording to a session, piece by piece, as fast as the model allows. */
async function feed(
  session: LiveSession,
  path: string,
  progress: ReturnType<typeof reportProgress>,
  {signal, notice}: CallHooks,
): Promise<void> {
  const audio = await openAudio({path}, {sampleRate, signal, onWarning: ({message}) => notice(`warning: ${message}`)})
  progress.start(audio.durationSec)
  for await (const piece of audio) {
    session.push(piece)
    await session.settle()
    session.ended.throwIfAborted()
  }
  await session.commit()
}

/**
 * Reports progress in seconds of audio. Without progress for an interval, a small increase shows that the work
 * continues: the receiver ignores values that do not increase.
 */
function reportProgress(report: CallHooks['report'], heartbeatMs: number) {
  let total: number | undefined
  let last = 0
  const send = (done: number) => {
    last = done
    report({done, ...(total === undefined ? {} : {total}), message: 'seconds transcribed'})
    timer.refresh()
  }
  const timer = setTimeout(() => send(last + 0.001), Math.max(1, heartbeatMs)).unref()
  return {
    start: (durationSec: number | undefined) => {
      total = durationSec
    },
    advance: send,
    stop: () => clearTimeout(timer),
  }
}
