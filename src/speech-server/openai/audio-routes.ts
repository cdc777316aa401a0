import {Readable} from 'node:stream'
import type {FastifyReply, FastifyRequest} from 'fastify'
import {asOpenAiError, SvcError} from '../../errors/index.js'
import {type HttpApp, sseStream, streamEvents} from '../../net/index.js'
import {
  createFormat,
  type Segment,
  type SpeechService,
  type TranscribedFile,
  writeTranscript,
} from '../../speech/index.js'
import {callHooks} from '../call-hooks.js'
import type {Upload, Uploads} from '../upload.js'
import {type AudioRequest, readAudioRequest} from './audio-request.js'
import {requireServed, type ServedSpeechModel} from './models.js'

export interface AudioRoutesOptions {
  service: SpeechService
  /** Receives the uploads of this app. */
  uploads: Uploads
  model(): Promise<ServedSpeechModel>
  /** @param seconds duration of the recording */
  onTranscribed?: ((seconds: number) => void) | undefined
}

/** Adds the routes of the OpenAI API for recordings. */
export function openAiAudioRoutes(app: HttpApp, options: AudioRoutesOptions): void {
  const {uploads} = options
  for (const [path, task] of [
    ['/v1/audio/transcriptions', 'transcribe'],
    ['/v1/audio/translations', 'translate'],
  ] as const)
    app.post(path, {onRequest: uploads.onRequest}, (request, reply) =>
      uploads.with(request, reply, async (upload, signal) => {
        const parsed = readAudioRequest(upload.fields, task)
        const served = await options.model()
        // A model that is not on this machine yet is downloaded by the transcription.
        if (served !== null) requireServed(parsed.model, served)
        return answer(options, parsed, upload, request, reply, signal)
      }),
    )
}

async function answer(
  {service, onTranscribed}: AudioRoutesOptions,
  {session, format, stream}: AudioRequest,
  upload: Upload,
  request: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const transcribe = async (onSegment?: (segment: Segment) => void) => {
    const file = await service.transcribeFile(upload, session, {...callHooks(request.id, signal), onSegment})
    onTranscribed?.(file.transcript.durationSec)
    return file
  }
  if (!stream) {
    const {mediaType} = createFormat(format)
    return reply.type(`${mediaType}; charset=utf-8`).send(bodyOf(format, await transcribe()))
  }
  await streamEvents(
    transcriptEvents(transcribe),
    () => sseStream(reply),
    (to, event) => to.write(event),
    (to, error) => to.write(asOpenAiError(SvcError.from(error))),
    request,
  )
  return reply
}

function bodyOf(format: AudioRequest['format'], {transcript}: TranscribedFile): string {
  const {task, text, segments} = transcript
  // The language of a translation is that of its text.
  const translated = task === 'translate' ? {...transcript, language: 'en'} : transcript
  const [first] = segments
  // Programs expect the text on one line, not a line per segment.
  return writeTranscript(
    format,
    format === 'text' && first ? {...translated, segments: [{...first, text}]} : translated,
  )
}

type TranscriptEvent =
  | {type: 'transcript.text.delta'; delta: string}
  | {type: 'transcript.text.done'; text: string; usage: {type: 'duration'; seconds: number}}

/**
 * Yields the text of each segment as soon as it is final, then the complete text. A client that reads slowly does not
 * delay the transcription, because other requests wait for it.
 */
async function* transcriptEvents(
  transcribe: (onSegment: (segment: Segment) => void) => Promise<TranscribedFile>,
): AsyncGenerator<TranscriptEvent, void, undefined> {
  const events = new Readable({objectMode: true, read: () => undefined})
  const push = (event: TranscriptEvent) => events.push(event)
  let text = ''
  const ended = transcribe((segment) => {
    const shown = segment.text.trim()
    if (shown === '') return
    const delta = text === '' ? shown : ` ${shown}`
    text += delta
    push({type: 'transcript.text.delta', delta})
  }).then(
    ({transcript}) => {
      push({type: 'transcript.text.done', text, usage: {type: 'duration', seconds: Math.ceil(transcript.durationSec)}})
      events.push(null)
    },
    (error: Error) => void events.destroy(error),
  )
  try {
    yield* events
  } finally {
    await ended
  }
}
