import type {ListenV1, SpeechStatusV1, TranscribeV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {OperationContext, SpeechPort} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, number, object, oneOf, text} from '../schema.js'
import type {ListenRequest, SpeechToCode, SpokenCode, TranscribeRequest} from '../speech-requests.js'

/** @throws speech_unavailable */
function speechOf({speech}: OperationContext): SpeechPort {
  if (speech === undefined) throw new SvcError('speech_unavailable', {})
  return speech
}

const milliseconds = {minimum: 1, maximum: 86_400_000}

/** Fields of a speech session. */
const sessionFields = (defaults: string) => ({
  path: text('Path of the recording, or of a raw .txt or .md transcript.', {minLength: 1, maxLength: 4096}),
  language_hint: {type: ['string', 'null'], maxLength: 64, description: 'Spoken language, such as en.'},
  profile: oneOf(['conservative', 'balanced', 'aggressive'], 'Degree of correction.'),
  timeout_ms: integer(`Time without audio after which the session fails; ${defaults}.`, milliseconds),
  max_duration_ms: integer(`Maximum duration of the session or utterance; ${defaults}.`, milliseconds),
  inference_deadline_ms: integer(`Time limit for recognition; ${defaults}.`, milliseconds),
  heartbeat_ms: integer('Interval of progress notifications without other progress.', milliseconds),
  debug_parser_payload: flag('Include all corrections and the settings.'),
})

/** Fields that tools accept, but do not list. */
const unlisted = ['timeout_ms', 'max_duration_ms', 'inference_deadline_ms', 'heartbeat_ms', 'debug_parser_payload']

const unlistedOfListen = [
  ...unlisted,
  ...['session_id', 'llm_refinement', 'llm_min_det_confidence', 'llm_max_output_tokens', 'emit_asr_refine_path'],
]

const routeModes = ['none', 'tool', 'chat', 'orchestrator']

export const speechOperations: readonly Operation[] = [
  operation<TranscribeRequest, TranscribeV1>({
    name: 'transcribe',
    title: 'Transcribe a recording',
    summary: 'Transcribe a recording in the workspace to text, and clean up the text.',
    effect: 'read',
    idempotent: true,
    input: object(
      {
        ...sessionFields('no limit if omitted'),
        route_mode: oneOf(routeModes, 'Ignored: a transcription is not routed.'),
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
      tool: {
        name: 'svc_speech_transcribe',
        tier: 'core',
        lane: 'ai',
        unlisted: [...unlisted, 'route_mode'],
        task: 'background',
      },
    },
    run: (request, context) => speechOf(context).transcribe(request, context),
  }),
  operation<ListenRequest, ListenV1>({
    name: 'listen',
    title: 'Transcribe a recording and act on it',
    summary: 'Transcribe a recording and use the text: call a tool, chat, or submit a task.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object(
      {
        ...sessionFields('the configured limit if omitted'),
        session_id: text('Id of the session; a new one if omitted.', {minLength: 1, maxLength: 256}),
        route_mode: oneOf(routeModes, 'Use of the text.'),
        confirmed: flag('Make changes without asking.'),
        llm_refinement: flag('Correct an uncertain text with the language model.'),
        llm_min_det_confidence: number('Confidence below which the text is corrected.', {minimum: 0, maximum: 1}),
        llm_max_output_tokens: integer('Maximum tokens of the correction.', {minimum: 1, maximum: 65_536}),
        emit_asr_refine_path: text('Workspace file that receives the raw and the final text as a line of JSON.', {
          minLength: 1,
          maxLength: 4096,
        }),
      },
      {required: ['path']},
    ),
    output: object(
      {
        correlation_id: text(),
        session: object({text: text(), state: text()}, {required: ['text', 'state'], open: true}),
        route: object({status: text()}, {required: ['status'], open: true}),
      },
      {required: ['correlation_id', 'session', 'route'], open: true},
    ),
    bindings: {
      rpc: {method: 'speech.listen'},
      tool: {name: 'svc_speech_listen', tier: 'core', lane: 'ai', unlisted: unlistedOfListen, hidden: ['confirmed']},
    },
    run: (request, context) => speechOf(context).listen(request, context),
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
  operation<SpeechToCode, SpokenCode>({
    name: 'speech_to_code',
    title: 'Generate code from speech',
    summary: 'Transcribe a recording, or take a text, and generate a program of the data language from it.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object({
      path: text('Path of the recording; instead of prompt.', {minLength: 1, maxLength: 4096}),
      prompt: text('Text instead of a recording.', {minLength: 1, maxLength: 262_144}),
      language_hint: {type: ['string', 'null'], maxLength: 64, description: 'Spoken language, such as en.'},
      profile: oneOf(['conservative', 'balanced', 'aggressive'], 'Degree of correction.'),
      debug_parser_payload: flag('Include all corrections and the settings.'),
      route_mode: oneOf(['none', 'tool', 'chat', 'orchestrator'], 'Route that is tried first; default: tool.'),
      include_route: flag('Route the text too; default: true.'),
      validate: flag('Validate and repair the program; default: true.'),
      max_retries: integer(undefined, {minimum: 0, maximum: 5}),
      session_id: text('Id of the session; a new one if omitted.', {minLength: 1, maxLength: 256}),
      output_surface_mode: oneOf(['raw_code_only', 'fenced_transport']),
      emit_trace_path: text('Workspace file that receives the trace as a line of JSON.', {
        minLength: 1,
        maxLength: 4096,
      }),
    }),
    output: object(
      {
        correlation_id: text(),
        transcript: object(
          {raw_text: text(), refined_text: text(), confidence: number(), n_best: list(text())},
          {required: ['raw_text', 'refined_text', 'confidence'], open: true},
        ),
        route: object({mode: text(), action: text(), status: text(), payload: object({}, {open: true})}),
        generate: object(
          {
            code: text(),
            error: object({code: text(), message: text()}, {required: ['code', 'message']}),
            runtime_generation_kpi: object({}, {open: true}),
          },
          {open: true},
        ),
        speech_trace: object({}, {open: true}),
      },
      {required: ['correlation_id', 'transcript', 'generate', 'speech_trace']},
    ),
    bindings: {
      rpc: {method: 'speech.to_code'},
      tool: {name: 'svc_speech_to_code', tier: 'advanced', lane: 'ai', unlisted: ['debug_parser_payload']},
    },
    run: (request, context) => speechOf(context).speechToCode(request, context),
  }),
]
