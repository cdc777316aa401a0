import {randomUUID} from 'node:crypto'
import type {SpeechStatusV1, TranscribeV1} from '../contracts/index.js'
import {containedPath} from '../files/index.js'
import type {SpeechPort, TranscribeRequest} from '../operations/index.js'
import type {Transcriber, TranscriberOptions} from '../speech/index.js'

export type RefineProfile = TranscriberOptions['text']['profile']

/** Speech-to-text for operations. Close it. */
export interface Ears extends SpeechPort {
  close(): Promise<void>
}

export interface EarsParts {
  /** Folder that recordings lie in. */
  root: string
  profile: RefineProfile
  /** Confidence below which the user should be asked. */
  minConfidence: number
  createTranscriber(profile: RefineProfile): Promise<Transcriber>
  status(): Promise<SpeechStatusV1>
  /** What the session is decided by, for debugging. */
  runtime(): object
}

/** Opens a model for each profile when the first recording needs it; recordings follow one another. */
export function openEars({root, profile: usual, minConfidence, createTranscriber, status, runtime}: EarsParts): Ears {
  const transcribers = new Map<RefineProfile, Promise<Transcriber>>()
  let last: Promise<unknown> = Promise.resolve()

  const transcriberFor = (profile: RefineProfile): Promise<Transcriber> => {
    const known = transcribers.get(profile)
    if (known !== undefined) return known
    const opened = createTranscriber(profile)
    transcribers.set(profile, opened)
    opened.catch(() => transcribers.delete(profile))
    return opened
  }

  const hear = async (
    request: TranscribeRequest,
    {signal, report, notice}: Parameters<SpeechPort['transcribe']>[1],
  ) => {
    signal.throwIfAborted()
    const {path, language_hint: language, profile = usual, debug_parser_payload: debug = false} = request
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
      const heard = last.then(() => hear(request, hooks))
      last = heard.catch(() => undefined)
      return heard as Promise<TranscribeV1>
    },
    async close() {
      await last
      for (const opened of transcribers.values()) await (await opened.catch(() => undefined))?.close()
    },
  }
}
