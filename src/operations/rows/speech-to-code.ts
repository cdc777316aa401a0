import {type Operation, operation} from '../operation.js'
import {flag, integer, list, number, object, oneOf, text} from '../schema.js'
import type {SpeechToCode, SpokenCode} from '../speech-to-code.js'

/** Generates code from speech. @param table all operations */
export const speechToCodeOperation = (table: () => readonly Operation[]): Operation =>
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
    run: async (request, context) => (await import('../speech-to-code.js')).speechToCode(request, table(), context),
  })
