import type {ErrorCode} from './catalogue.js'
import {isErrorOf, type SvcError} from './error.js'

/** The error of a command under `--json`. */
export interface CliError {
  error: {code: string; message: string; remediation: string; exit: number}
}

/** Turns an error into the body of one wire format. `requestId` is set if the error is a response to a request. */
export type ErrorRenderer = (error: SvcError, requestId?: string) => object

/** stdout of a failed command under `--json`. */
export const asCliError = (error: SvcError): CliError => ({
  error: {code: error.code, message: error.message, remediation: error.hint, exit: error.exit},
})

/** stderr of a failed command in text mode. */
export const asText = (error: SvcError): string => `error: ${error.message} (${error.code})\n  hint: ${error.hint}\n`

/** `/api/*` of the inference server, in the format of Ollama. */
export const asOllamaError = (error: SvcError) => ({error: error.message})

/** `/v1/*` of the inference server, in the format of OpenAI: always with all four keys. */
export const asOpenAiError = (error: SvcError) => ({
  error: {
    message: error.message,
    type: error.status >= 500 ? 'server_error' : 'invalid_request_error',
    param: error.param,
    code: error.openaiCode,
  },
})

const anthropicTypes: Partial<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** `/v1/messages` of the inference server, in the format of Anthropic. */
export const asAnthropicError = (error: SvcError, requestId?: string) => ({
  type: 'error',
  error: {
    type: anthropicTypes[error.status] ?? (error.status >= 500 ? 'api_error' : 'invalid_request_error'),
    // Agents compact a conversation when they read these words.
    message: error.code === 'prompt_too_long' ? `prompt is too long: ${error.message}` : error.message,
  },
  ...(requestId === undefined ? {} : {request_id: requestId}),
})

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  507: 'Insufficient Storage',
}

/** Codes that differ in problem details. */
const problemCodes: Partial<Record<string, string>> = {media_type_unsupported: 'unsupported_media_type'}

/** The mesh control plane: problem details (RFC 9457), extended by the error code. */
export const asProblem: ErrorRenderer = (error, requestId) => ({
  type: 'about:blank',
  title: titles[error.status] ?? 'Error',
  status: error.status,
  code: problemCodes[error.code] ?? error.code,
  detail: error.message,
  hint: error.hint,
  ...(requestId === undefined ? {} : {request_id: requestId}),
})

/** Codes that differ in the errors of the speech server. */
const audioCodes: Partial<Record<ErrorCode, string>> = {
  audio_unrecognized: 'unsupported_media_type',
  audio_invalid: 'transcribe_failed',
  audio_empty: 'transcribe_failed',
  audio_track_missing: 'transcribe_failed',
  media_type_unsupported: 'unsupported_media_type',
  language_unsupported: 'unsupported_language',
  path_denied: 'path_outside_workspace',
  origin_forbidden: 'forbidden_origin',
  body_too_large: 'payload_too_large',
  overloaded: 'busy',
  speech_model_missing: 'model_unavailable',
  recognition_failed: 'internal_error',
  internal: 'internal_error',
}

/** The speech server, and error events of live speech: a flat object. */
export function asAudioError(error: SvcError) {
  const {code, message, hint} = error
  return {error: audioCodes[code] ?? code, message, hint, ...audioFields(error)}
}

function audioFields(error: SvcError): object {
  if (isErrorOf(error, 'file_not_found')) return {path: error.params.path}
  if (isErrorOf(error, 'body_too_large')) return {max_bytes: error.params.limit}
  if (isErrorOf(error, 'buffer_overflow')) return {max_buffer_ms: error.params.max_buffer_ms}
  const isOfSession =
    isErrorOf(error, 'speech_capture_timeout') ||
    isErrorOf(error, 'speech_inference_timeout') ||
    isErrorOf(error, 'speech_deadline_exceeded')
  return isOfSession ? {...error.params} : {}
}

/** By the error, or else by its status. */
const databaseCodes: Partial<Record<ErrorCode | number, string>> = {
  schema_changed: 'SCHEMA_CHANGED',
  store_moved: 'DB_MOVED',
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'DOMAIN_ERROR',
  431: 'HEADERS_TOO_LARGE',
  503: 'DB_BUSY',
}

/** Routes of a data-language program. */
export const asDatabaseError: ErrorRenderer = (error, requestId) => ({
  ok: false,
  code:
    databaseCodes[error.code] ?? databaseCodes[error.status] ?? (error.status < 500 ? 'BAD_REQUEST' : 'INTERNAL_ERROR'),
  message: error.message,
  ...(requestId === undefined ? {} : {request_id: requestId}),
})
