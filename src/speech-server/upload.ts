import {randomUUID} from 'node:crypto'
import {createWriteStream} from 'node:fs'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {basename, extname, join} from 'node:path'
import type {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import multipart, {type MultipartFile} from '@fastify/multipart'
import type {FastifyReply, FastifyRequest} from 'fastify'
import {isAudioFile} from '../audio/index.js'
import {SvcError} from '../errors/index.js'
import {clientGone, type HttpApp} from '../net/index.js'
import {isTextFile, type SpeechService} from '../speech/index.js'

/** An uploaded recording in a temporary file, which the receiver deletes. */
export interface Upload {
  path: string
  /** File name that the client sent, without directories. */
  name: string
  fields: FormFields
}

/** The text fields of a form by name, each with its values in order. The name of a list has no `[]` or `[0]` at its end. */
export type FormFields = ReadonlyMap<string, readonly string[]>

/** The last value of a field; an empty one counts as absent. */
export const lastOf = (fields: FormFields, name: string): string | undefined => fields.get(name)?.at(-1) || undefined

/** Names of the parts that can contain the recording. */
const recordingFields = new Set(['audio', 'file'])

/** Limits of the parts of a form, apart from the size of the recording. */
const formLimits = {fieldNameSize: 64, fieldSize: 64 << 10, fields: 32, files: 8, parts: 40, headerPairs: 32}

/** Size of the other parts of the form, bytes. */
const formBytes = 256 << 10

/** A part of this name is the recording even if the client sent no file name. */
const isPartAFile = (field: string | undefined, type: string | undefined, name: string | undefined): boolean =>
  name !== undefined || type === 'application/octet-stream' || recordingFields.has(field ?? '')

/** Maximum number of uploads that are received at once. */
const maxUploads = 16

/** Receives the uploads of a server. They are stored in a temporary directory, which is deleted when the app closes. */
export class Uploads {
  readonly #folder: string
  readonly #queue: SpeechService['queue']
  readonly #maxBytes: number
  #receiving = 0

  private constructor(folder: string, {queue}: SpeechService, maxBytes: number) {
    this.#folder = folder
    this.#queue = queue
    this.#maxBytes = maxBytes
  }

  /**
   * Prepares an app for uploads, before its routes are added.
   * @param maxBytes maximum size of a recording
   * @throws write_failed
   */
  static async open(app: HttpApp, service: SpeechService, maxBytes: number): Promise<Uploads> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-speech-')).catch((error: NodeJS.ErrnoException) => {
      throw new SvcError('write_failed', {reason: String(error.code)}, {cause: error})
    })
    app.addHook('onClose', () => rm(folder, {recursive: true, force: true}))
    await app.register(multipart, {
      limits: {...formLimits, fileSize: maxBytes},
      throwFileSizeLimit: false,
      isPartAFile,
    })
    return new Uploads(folder, service, maxBytes)
  }

  /** Hook of routes for uploads. @throws multipart_read_failed */
  readonly onRequest = async ({headers}: FastifyRequest): Promise<void> => {
    if (!/^multipart\/form-data\b/i.test(headers['content-type'] ?? ''))
      throw new SvcError('multipart_read_failed', {reason: 'its content type is not multipart/form-data'})
  }

  /**
   * Receives an upload, and deletes it after it was used.
   * @param use the signal aborts when the client disconnects
   * @throws overloaded; what `receiveUpload` throws
   */
  async with<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    use: (upload: Upload, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const signal = clientGone(reply)
    const upload = await this.#receive(request, signal)
    try {
      return await use(upload, signal)
    } finally {
      await rm(upload.path, {force: true})
    }
  }

  async #receive(request: FastifyRequest, signal: AbortSignal): Promise<Upload> {
    this.#queue.refuseIfFull()
    if (this.#receiving >= maxUploads)
      throw new SvcError('overloaded', {reason: `${maxUploads} recordings are already being uploaded.`})
    this.#receiving++
    try {
      return await receiveUpload(request, {folder: this.#folder, maxBytes: this.#maxBytes, signal})
    } finally {
      this.#receiving--
    }
  }
}

/**
 * Stores the first part named `audio` or `file` that is not empty, and reads the text fields before and after it.
 * @param folder existing directory that only this process can read
 * @throws body_too_large, missing_audio_field, multipart_read_failed, write_failed; the reason of the signal
 */
async function receiveUpload(
  request: FastifyRequest,
  {folder, maxBytes, signal}: {folder: string; maxBytes: number; signal: AbortSignal},
): Promise<Upload> {
  if (Number(request.headers['content-length']) > maxBytes + formBytes)
    throw new SvcError('body_too_large', {limit: maxBytes})
  const fields = new Map<string, string[]>()
  let stored: {path: string; name: string} | undefined
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') {
        const name = part.fieldname.replace(/\[\d*\]$/, '')
        fields.set(name, [...(fields.get(name) ?? []), String(part.value)])
      } else if (stored === undefined && recordingFields.has(part.fieldname))
        stored = await store(part, folder, maxBytes)
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
