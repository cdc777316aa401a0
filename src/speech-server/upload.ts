import {randomUUID} from 'node:crypto'
import {createWriteStream} from 'node:fs'
import {rm} from 'node:fs/promises'
import {basename, extname, join} from 'node:path'
import type {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import type {MultipartFile} from '@fastify/multipart'
import type {FastifyRequest} from 'fastify'
import {isAudioFile} from '../audio/index.js'
import {SvcError} from '../errors/index.js'
import {isTextFile} from '../speech/index.js'

/** An uploaded recording in a temporary file, which the receiver deletes. */
export interface Upload {
  path: string
  /** File name that the client sent, without directories. */
  name: string
  /** The text fields of the form. */
  fields: Record<string, string>
}

/** Names of the parts that can contain the recording. */
const recordingFields = new Set(['audio', 'file'])

/** Limits of the parts of a form, apart from the size of the recording. */
export const formLimits = {fieldNameSize: 64, fieldSize: 64 << 10, fields: 32, files: 8, parts: 40, headerPairs: 32}

/** Size of the other parts of the form, bytes. */
const formBytes = 256 << 10

/** A part of this name is the recording even if the client sent no file name. */
export const isPartAFile = (field: string | undefined, type: string | undefined, name: string | undefined): boolean =>
  name !== undefined || type === 'application/octet-stream' || recordingFields.has(field ?? '')

/**
 * Stores the first part named `audio` or `file` that is not empty, and reads the text fields before and after it.
 * @param folder existing directory that only this process can read
 * @throws body_too_large, missing_audio_field, multipart_read_failed, write_failed; the reason of the signal
 */
export async function receiveUpload(
  request: FastifyRequest,
  {folder, maxBytes, signal}: {folder: string; maxBytes: number; signal: AbortSignal},
): Promise<Upload> {
  if (Number(request.headers['content-length']) > maxBytes + formBytes)
    throw new SvcError('body_too_large', {limit: maxBytes})
  const fields: Record<string, string> = {}
  let stored: {path: string; name: string} | undefined
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') fields[part.fieldname] = String(part.value)
      else if (stored === undefined && recordingFields.has(part.fieldname)) stored = await store(part, folder, maxBytes)
      else await drain(part.file)
    }
    if (stored === undefined) throw new SvcError('missing_audio_field', {})
    return {...stored, fields}
  } catch (error) {
    if (stored !== undefined) await rm(stored.path, {force: true})
    if (signal.aborted) throw signal.reason
    throw uploadError(error)
  }
}

function uploadError(error: unknown): SvcError {
  if (error instanceof SvcError) return error
  const {code, message} = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return new SvcError('write_failed', {reason: 'no disk space left'}, {cause: error})
  if (code?.startsWith('E')) return new SvcError('write_failed', {reason: code}, {cause: error})
  return new SvcError('multipart_read_failed', {reason: message.replace(/\.$/, '')}, {cause: error})
}

/** Returns undefined for an empty part. */
async function store(
  {file, filename = ''}: MultipartFile,
  folder: string,
  maxBytes: number,
): Promise<{path: string; name: string} | undefined> {
  const name = basename(filename.replaceAll('\\', '/')) || 'upload'
  const extension = extname(name).toLowerCase()
  const known = isAudioFile(`recording${extension}`) || isTextFile(`recording${extension}`)
  const path = join(folder, `${randomUUID()}${known ? extension : '.wav'}`)
  const target = createWriteStream(path, {flags: 'wx', mode: 0o600})
  try {
    await pipeline(file, target)
    // The parser cuts a part at the limit.
    if (file.truncated) throw new SvcError('body_too_large', {limit: maxBytes})
  } catch (error) {
    await rm(path, {force: true})
    throw error
  }
  if (target.bytesWritten > 0) return {path, name}
  await rm(path, {force: true})
  return undefined
}

async function drain(stream: Readable): Promise<void> {
  for await (const _ of stream);
}
