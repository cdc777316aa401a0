import {randomUUID} from 'node:crypto'
import {resolveSettings, speechSessionSettings} from '../config/index.js'
import {type FailureCategory, type SpeechTrace, withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {containedOutput} from '../files/index.js'
import {askEndpoint} from '../inference-client/index.js'
import {
  DetailedError,
  type GeneratedCode,
  type OperationContext,
  operations,
  performNamed,
  type SpeechToCode,
  type SpokenCode,
  type SpokenText,
} from '../operations/index.js'
import {appendSpeechTrace, newSessionId, speechTrace, spokenCodeFailure} from '../speech/index.js'
import {noEditor} from './routing/editor-context.js'
import {type RouteResult, Router} from './routing/router.js'
import {routeTranscript, transcriptUse} from './routing/use-transcript.js'
import {spokenPorts} from './spoken-operations.js'

/**
 * Generates a program from a recording or a text, and traces how it went.
 * @throws params_invalid, path_denied; what transcribing throws
 */
export async function speechToCode(request: SpeechToCode, context: OperationContext): Promise<SpokenCode> {
  if ((request.path === undefined) === (request.prompt === undefined))
    throw new SvcError('params_invalid', {
      operation: 'speech_to_code',
      violations: ['the document must have exactly one of path and prompt'],
    })
  const {emit_trace_path: tracePath, include_route: includesRoute = true} = request
  const traceFile = tracePath === undefined ? undefined : await containedOutput(context.orchestrator.root, tracePath)
  const ids = {sessionId: request.session_id ?? newSessionId(), correlationId: randomUUID()}
  const transcript = await hear(request, context)
  const routed = includesRoute ? await routeOf(request, ids.sessionId, transcript, context) : undefined
  const generate = await generateFrom(request, ids.sessionId, transcript, context)
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
async function hear({path, prompt = '', ...request}: SpeechToCode, context: OperationContext): Promise<SpokenText> {
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
  {refined_text, confidence}: SpokenText,
  context: OperationContext,
): Promise<RouteResult> {
  const use = {mode, editor: noEditor, ...transcriptUse(sessionSettings(context))}
  const ports = {
    // The code is generated below, so nothing else is changed.
    ...spokenPorts(
      async () => context,
      async (_, change) => change === 'submit',
    ),
    router: new Router(),
    resolveModel: (signal: AbortSignal) => askEndpoint(context.sources, signal),
  }
  return routeTranscript(sessionId, {text: refined_text, confidence}, use, ports, context.signal)
}

async function generateFrom(
  request: SpeechToCode,
  sessionId: string,
  {refined_text: prompt}: SpokenText,
  context: OperationContext,
): Promise<GeneratedCode> {
  const {validate, max_retries, output_surface_mode} = request
  const options = withoutUndefined({validate, max_retries, output_surface_mode})
  const input = {prompt, session_id: sessionId, ...options}
  try {
    return (await performNamed(operations, 'generate_code', input, context)) as GeneratedCode
  } catch (error) {
    context.signal.throwIfAborted()
    const {code, message} = SvcError.from(error)
    return {error: {code, message}, ...(error instanceof DetailedError ? error.meta : {})}
  }
}

/** The trace of the request. A program that was not validated has neither a result nor a failure. */
async function traceOf(
  {sessionId, correlationId}: {sessionId: string; correlationId: string},
  {raw_text, refined_text, confidence, n_best}: SpokenText,
  routed: RouteResult | undefined,
  {error, validate, runtime_generation_kpi: kpi, diagnostics_snapshot: findings}: GeneratedCode & {validate: boolean},
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
