import {randomUUID} from 'node:crypto'
import type {SpeechStatusV1, TranscribeV1} from '../contracts/index.js'
import {containedPath} from '../files/index.js'
import type {SpeechPort, TranscribeRequest} from '../operations/index.js'
import type {Transcriber, TranscriberOptions} from '../speech/index.js'

export type RefineProfile = TranscriberOptions['text']['profile']

export interface ClosableSpeechPort extends SpeechPort {
  close(): Promise<void>
}

export interface SpeechPortOptions {
  /** Folder that contains all recordings; others are refused. */
  root: string
  profile: RefineProfile
  /** Confidence below which the user should be asked. */
  minConfidence: number
  createTranscriber(profile: RefineProfile): Promise<Transcriber>
  status(): Promise<SpeechStatusV1>
  /** The effective runtime configuration, for debugging. */
  runtime(): object
}

/** Loads a model per profile on first use. Recordings are transcribed one at a time. */
export function openSpeechPort({
  root,
  profile: defaultProfile,
  minConfidence,
  createTranscriber,
  status,
  runtime,
}: SpeechPortOptions): ClosableSpeechPort {
  const transcribers = new Map<RefineProfile, Promise<Transcriber>>()
  let last: Promise<unknown> = Promise.resolve()

  const transcriberFor = (profile: RefineProfile): Promise<Transcriber> => {
    const existing = transcribers.get(profile)
    if (existing !== undefined) return existing
    const created = createTranscriber(profile)
    transcribers.set(profile, created)
    created.catch(() => transcribers.delete(profile))
    return created
  }

  const transcribe = async (
    request: TranscribeRequest,
    {signal, report, notice}: Parameters<SpeechPort['transcribe']>[1],
  ) => {
    signal.throwIfAborted()
    const {path, language_hint: language, profile = defaultProfile, debug_parser_payload: debug = false} = request
    const file = await containedPath(root, path)
    const {transcribePayload} = await import('../speech/index.js')
    const transcriber = await transcriberFor(profile)
    let total: number | undefined
    const result = await transcriber.transcribe(
      {path: file},
      {
        signal,
        language: language ?? undefined,
        onWarning: ({message}) => notice(`warning: ${message}`),
        onStart: (durationSec) => {
          total = durationSec
        },
        onProgress: (done) => report({done, ...(total === undefined ? {} : {total}), message: 'seconds transcribed'}),
      },
    )
    const payload = transcribePayload(result, {path: file, correlationId: randomUUID(), refined: true, minConfidence})
    return debug ? {...payload, correction_trace: result.finished.trace, runtime_config: runtime()} : payload
  }

  return {
    status,
    transcribe(request, hooks) {
      const result = last.then(() => transcribe(request, hooks))
      last = result.catch(() => undefined)
      return result as Promise<TranscribeV1>
    },
    async close() {
      await last
      for (const transcriber of transcribers.values()) await (await transcriber.catch(() => undefined))?.close()
    },
  }
}
