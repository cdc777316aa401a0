import {randomUUID} from 'node:crypto'
import {realpath} from 'node:fs/promises'
import {isAbsolute, relative, resolve, sep} from 'node:path'
import type {SpeechStatusV1, TranscribeV1} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
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
  /** Of the settings. */
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
    const file = await containedFile(root, path)
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

/**
 * The file of a recording: relative to the folder, which it does not leave, not even through links.
 * @throws path_denied, file_not_found
 */
export async function containedFile(root: string, path: string): Promise<string> {
  const given = resolve(root, path)
  const realRoot = await real(root)
  // What lies outside is not even looked at.
  if (!contains(resolve(root), given) && !contains(realRoot, given)) throw new SvcError('path_denied', {path})
  const file = await real(given)
  if (!contains(realRoot, file)) throw new SvcError('path_denied', {path})
  return file
}

async function real(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    throw SvcError.from(error)
  }
}

function contains(folder: string, file: string): boolean {
  const way = relative(folder, file)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
