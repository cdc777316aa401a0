import type {SpeechStatusV1, TranscribeV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {flag, list, number, object, oneOf, text} from '../schema.js'
import type {SpeechPort, TranscribeRequest} from '../speech-port.js'

/** @throws speech_unavailable */
function speechOf({speech}: OperationContext): SpeechPort {
  if (speech === undefined) throw new SvcError('speech_unavailable', {})
  return speech
}

export const speechOperations: readonly Operation[] = [
  operation<TranscribeRequest, TranscribeV1>({
    name: 'transcribe',
    title: 'Transcribe a recording',
    summary: 'Transcribe a recording in the workspace to text, and clean up the text.',
    effect: 'read',
    idempotent: true,
    input: object(
      {
        path: text('Path of the recording, or of a raw .txt or .md transcript.', {minLength: 1, maxLength: 4096}),
        language_hint: {type: ['string', 'null'], maxLength: 64, description: 'Spoken language, such as en.'},
        profile: oneOf(['conservative', 'balanced', 'aggressive'], 'How aggressively the text is corrected.'),
        debug_parser_payload: flag('Include all corrections and the settings.'),
      },
      {required: ['path']},
    ),
    output: object(
      {
        raw_text: text(),
        refined_text: text(),
        text: text(),
        confidence: number(),
        clarification_recommended: flag(),
        n_best: list(text()),
      },
      {required: ['text', 'raw_text', 'confidence', 'clarification_recommended'], open: true},
    ),
    bindings: {
      rpc: {method: 'speech.transcribe'},
      tool: {name: 'svc_speech_transcribe', tier: 'core', lane: 'ai'},
    },
    run: (request, context) => speechOf(context).transcribe(request, context),
  }),
  operation<object, SpeechStatusV1>({
    name: 'speech_status',
    title: 'Show speech-to-text status',
    summary: 'Show the speech model in use and the speech settings.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object({summary: text(), engine: object({}, {open: true})}, {required: ['summary', 'engine'], open: true}),
    bindings: {
      rpc: {method: 'speech.status'},
      tool: {name: 'svc_speech_status', tier: 'core', lane: 'ai'},
    },
    run: (_, context) => speechOf(context).status(),
  }),
]
