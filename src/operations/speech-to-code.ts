import {randomUUID} from 'node:crypto'
import {resolveSettings, speechSessionSettings} from '../config/index.js'
import {
  type FailureCategory,
  type RuntimeGenerationKpiV1,
  type SpeechTrace,
  withoutUndefined,
} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {containedOutput} from '../files/index.js'
import {askEndpoint} from '../inference-client/index.js'
import {
  appendSpeechTrace,
  newSessionId,
  noEditor,
  type Route,
  type RouteResult,
  Router,
  routeTranscript,
  speechTrace,
  spokenCodeFailure,
  transcriptUse,
} from '../speech/index.js'
import type {OperationContext} from './context.js'
import type {Operation} from './operation.js'
import {performNamed} from './perform.js'
import type {TranscribeRequest} from './speech-port.js'
import {spokenPorts} from './spoken.js'
import {DetailedError} from './tool-answer.js'

export interface SpeechToCode extends Partial<TranscribeRequest> {
  prompt?: string
  include_route?: boolean
  validate?: boolean
  max_retries?: number
  session_id?: string
  output_surface_mode?: string
  emit_trace_path?: string
}

interface Heard {
  raw_text: string
  refined_text: string
  confidence: number
  n_best?: readonly string[]
}

interface Generated {
  code?: string
  error?: {code: string; message: string}
  runtime_generation_kpi?: RuntimeGenerationKpiV1
  diagnostics_snapshot?: readonly {line: number; [member: string]: unknown}[]
}

export interface SpokenCode {
  correlation_id: string
  transcript: Heard
  route?: Route
  generate: Generated
  speech_trace: SpeechTrace
}

/**
 * Generates a program from a recording or a text, and traces how it went.
 * @param table all operations
 * @throws params_invalid, path_denied; what transcribing throws
 */
export async function speechToCode(
  request: SpeechToCode,
  table: readonly Operation[],
  context: OperationContext,
): Promise<SpokenCode> {
  if ((request.path === undefined) === (request.prompt === undefined))
    throw new SvcError('params_invalid', {
      operation: 'speech_to_code',
      violations: ['the document must have exactly one of path and prompt'],
    })
  const {emit_trace_path: tracePath, include_route: includesRoute = true} = request
  const traceFile = tracePath === undefined ? undefined : await containedOutput(context.orchestrator.root, tracePath)
  const ids = {sessionId: request.session_id ?? newSessionId(), correlationId: randomUUID()}
  const transcript = await hear(request, context)
  const routed = includesRoute ? await routeOf(request, ids.sessionId, transcript, table, context) : undefined
  const generate = await generateFrom(request, ids.sessionId, transcript, table, context)
  const trace = await traceOf(ids, transcript, routed, {...generate, validate: request.validate ?? true}, context)
  if (traceFile !== undefined) await appendSpeechTrace(traceFile, trace)
  return {
    correlation_id: ids.correlationId,
    transcript,
    ...(routed === undefined ? {} : {route: routed.route}),
    generate,
    speech_trace: trace,
  }
}

/** The transcript of the recording, or the text of the request. */
async function hear({path, prompt = '', ...request}: SpeechToCode, context: OperationContext): Promise<Heard> {
  if (path === undefined) return {raw_text: prompt, refined_text: prompt.trim(), confidence: 1}
  if (context.speech === undefined) throw new SvcError('speech_unavailable', {})
  const {language_hint, profile, debug_parser_payload} = request
  const options = withoutUndefined({language_hint, profile, debug_parser_payload})
  const heard = await context.speech.transcribe({path, ...options}, context)
  const {raw_text, refined_text, confidence, n_best, correction_trace, runtime_config} = heard
  const debug = debug_parser_payload === true ? {correction_trace, runtime_config} : {}
  return {raw_text, refined_text, confidence, ...(n_best === undefined ? {} : {n_best}), ...debug}
}

async function routeOf(
  {route_mode: mode = 'tool'}: SpeechToCode,
  sessionId: string,
  {refined_text, confidence}: Heard,
  table: readonly Operation[],
  context: OperationContext,
): Promise<RouteResult> {
  const use = {mode, editor: noEditor, ...transcriptUse(sessionSettings(context))}
  const ports = {
    // The code is generated below, so nothing else is changed.
    ...(await spokenPorts(
      table,
      async () => context,
      async (_, change) => change === 'submit',
    )),
    router: new Router(),
    resolveModel: (signal: AbortSignal) => askEndpoint(context.sources, signal),
  }
  return routeTranscript(sessionId, {text: refined_text, confidence}, use, ports, context.signal)
}

async function generateFrom(
  request: SpeechToCode,
  sessionId: string,
  {refined_text: prompt}: Heard,
  table: readonly Operation[],
  context: OperationContext,
): Promise<Generated> {
  const {validate, max_retries, output_surface_mode} = request
  const options = withoutUndefined({validate, max_retries, output_surface_mode})
  const input = {prompt, session_id: sessionId, ...options}
  try {
    return (await performNamed(table, 'generate_code', input, context)) as Generated
  } catch (error) {
    context.signal.throwIfAborted()
    const {code, message} = SvcError.from(error)
    return {error: {code, message}, ...(error instanceof DetailedError ? error.meta : {})}
  }
}

/** The trace of the request. A program that was not validated has neither a result nor a failure. */
async function traceOf(
  {sessionId, correlationId}: {sessionId: string; correlationId: string},
  {raw_text, refined_text, confidence, n_best}: Heard,
  routed: RouteResult | undefined,
  {error, validate, runtime_generation_kpi: kpi, diagnostics_snapshot: findings}: Generated & {validate: boolean},
  context: OperationContext,
): Promise<SpeechTrace> {
  const minConfidence = sessionSettings(context).toolRouteMinConfidence
  const compileOk = error !== undefined ? false : validate ? true : undefined
  const failure: FailureCategory | undefined =
    compileOk === false ? spokenCodeFailure({compileOk, confidence, minConfidence}) : undefined
  return speechTrace({
    sessionId,
    correlationId,
    rawText: raw_text,
    refinedText: refined_text,
    readings: n_best,
    intent: routed === undefined ? undefined : {action: routed.route.action, slots: slotsOf(routed)},
    repairAttempts: kpi === undefined ? undefined : Math.max(0, kpi.attempts - 1),
    compileOk,
    failure,
    diagnostics: findings?.map(({line, ...finding}) => ({
      ...(finding as {message: string}),
      start_line: Math.max(0, line - 1),
    })),
  })
}

function slotsOf({envelope}: RouteResult): Readonly<Record<string, unknown>> {
  const {target_path, symbol_name, ast_target} = envelope ?? {}
  return withoutUndefined({target_path, symbol_name, ast_target})
}

const sessionSettings = ({sources}: OperationContext) => resolveSettings(speechSessionSettings, sources).values
