import {stat} from 'node:fs/promises'
import {compileSchema, type Schema} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {containedPath} from '../files/index.js'
import type {SessionRequest} from '../speech/index.js'
import {type FormFields, lastOf} from './upload.js'

/** A request to transcribe a recording. */
export interface TranscribeBody extends SessionRequest {
  path: string
  include_segments?: boolean
}

const milliseconds = {type: 'integer', minimum: 1, maximum: 86_400_000}

/** Fields that a request by path and an upload have in common. */
const options: Readonly<Record<string, Schema>> = {
  language_hint: {type: ['string', 'null'], maxLength: 64},
  profile: {enum: ['conservative', 'balanced', 'aggressive']},
  task: {enum: ['transcribe', 'translate']},
  word_timestamps: {type: 'boolean'},
  include_segments: {type: 'boolean'},
  debug_parser_payload: {type: 'boolean'},
  timeout_ms: milliseconds,
  max_duration_ms: milliseconds,
  inference_deadline_ms: milliseconds,
  heartbeat_ms: milliseconds,
}

const bodySchema: Schema = {
  type: 'object',
  required: ['path'],
  properties: {path: {type: 'string'}, ...options},
}

const optionsSchema: Schema = {type: 'object', properties: options}

/** @throws bad_request, body_missing */
export async function readTranscribeBody(body: unknown): Promise<TranscribeBody> {
  if (body === undefined) throw new SvcError('body_missing', {})
  return (await conforming(body, bodySchema)) as TranscribeBody
}

/**
 * The options of an upload, which are text fields or query parameters.
 * @throws bad_request
 */
export async function readUploadOptions(fields: FormFields): Promise<Omit<TranscribeBody, 'path'>> {
  const known = Object.entries(options).flatMap(([name, {type}]) => {
    const text = lastOf(fields, name)
    if (text === undefined) return []
    return [[name, type === 'boolean' || type === 'integer' ? parsed(text) : text]]
  })
  return (await conforming(Object.fromEntries(known), optionsSchema)) as Omit<TranscribeBody, 'path'>
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** @throws bad_request */
async function conforming(value: unknown, schema: Schema): Promise<object> {
  const [violation] = (await compileSchema(schema, 'a transcription request'))(value)
  if (violation !== undefined) throw new SvcError('bad_request', {reason: `The request is invalid: ${violation}.`})
  return value as object
}

const maxPathBytes = 4096

/**
 * Resolves the path of a recording below the root.
 * @throws invalid_path, not_a_file, path_denied, file_not_found
 */
export async function recordingPath(root: string, path: string): Promise<string> {
  const reason = faultOf(path)
  if (reason !== undefined) throw new SvcError('invalid_path', {path: path.slice(0, 200), reason})
  const file = await containedPath(root, path)
  const found = await stat(file).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  if (!found.isFile()) throw new SvcError('not_a_file', {path})
  return file
}

function faultOf(path: string): string | undefined {
  if (path.trim() === '') return 'it is empty'
  if (path.includes('\0')) return 'it contains a NUL character'
  if (Buffer.byteLength(path) > maxPathBytes) return `it is longer than ${maxPathBytes} bytes`
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(path)) return 'it is a URL'
  if (/^(\\\\|\/\/)/.test(path)) return 'it is a network path'
  if (/(^|[\\/])(con|prn|aux|nul|com\d|lpt\d)(\.[^\\/]*)?$/i.test(path) && process.platform === 'win32')
    return 'it is a device'
  return undefined
}
