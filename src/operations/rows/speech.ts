import type {SpeechStatusV1, TranscribeV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {flag, list, number, object, oneOf, text} from '../schema.js'
import type {SpeechPort, TranscribeRequest} from '../speech-port.js'

/** @throws speech_unavailable */
function ears({speech}: OperationContext): SpeechPort {
  if (speech === undefined) throw new SvcError('speech_unavailable', {})
  return speech
}

export const speechOperations: readonly Operation[] = [
  operation<TranscribeRequest, TranscribeV1>({
    name: 'transcribe',
    title: 'Transcribe a recording',
    summary: 'Write down what is said in a recording of the workspace, and put the text right.',
    effect: 'read',
    idempotent: true,
    input: object(
      {
        path: text('The recording, or a .txt or .md file for a text that was said.', {minLength: 1, maxLength: 4096}),
        language_hint: {type: ['string', 'null'], maxLength: 64, description: 'Its language, such as en.'},
        profile: oneOf(['conservative', 'balanced', 'aggressive'], 'How freely the text is put right.'),
        debug_parser_payload: flag('Tell every correction, and the settings.'),
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
    run: (request, context) => ears(context).transcribe(request, context),
  }),
  operation<object, SpeechStatusV1>({
    name: 'speech_status',
    title: 'Status of speech-to-text',
    summary: 'Tell what recognises speech, and with which settings.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object({summary: text(), engine: object({}, {open: true})}, {required: ['summary', 'engine'], open: true}),
    bindings: {
      rpc: {method: 'speech.status'},
      tool: {name: 'svc_speech_status', tier: 'core', lane: 'ai'},
    },
    run: (_, context) => ears(context).status(),
  }),
]
