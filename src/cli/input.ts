import {isUtf8} from 'node:buffer'
import {createReadStream} from 'node:fs'
import {resolve} from 'node:path'
import type {AudioInput, RawPcm} from '../audio/index.js'
import {SvcError} from '../errors/index.js'
import {onAbort} from '../process/index.js'

const maxTextBytes = 16 << 20

/**
 * Reads the chunks of a file, or of standard input if the path is `-`.
 * @throws file_not_found, file_unreadable; the abort reason of the signal
 */
export async function* inputChunks(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  signal.throwIfAborted()
  const source = path === '-' ? process.stdin : createReadStream(path, {signal})
  const stopListening = onAbort(signal, () => source.destroy())
  try {
    for await (const chunk of source) yield chunk as Buffer
    signal.throwIfAborted()
  } catch (error) {
    throw signal.aborted ? signal.reason : SvcError.from(error)
  } finally {
    stopListening()
  }
}

/**
 * Reads a file, or standard input if the path is `-`.
 * @throws stdin_too_long; the errors of `inputChunks`
 */
export async function readInput(path: string, signal: AbortSignal, maxBytes = maxTextBytes): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of inputChunks(path, signal)) {
    length += chunk.length
    if (length > maxBytes)
      throw new SvcError('stdin_too_long', {limit: maxBytes, path: path === '-' ? undefined : path})
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Reads text from standard input and removes one trailing newline, which `echo` and editors append.
 * @throws stdin_not_utf8 with the byte offset; stdin_too_long
 */
export async function readTextInput(signal: AbortSignal): Promise<string> {
  const bytes = await readInput('-', signal)
  const text = bytes.toString('utf8')
  if (!isUtf8(bytes)) throw new SvcError('stdin_not_utf8', {offset: firstDifference(bytes, Buffer.from(text, 'utf8'))})
  return text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '')
}

/**
 * The arguments of a function that reads a file and whose second argument is the text, if it has been read already.
 * @throws the errors of `readTextInput`
 */
export const fileOrInput = async (path: string, signal: AbortSignal): Promise<[file: string, text?: string]> =>
  path === '-' ? ['<stdin>', await readTextInput(signal)] : [path]

/** A recording, or standard input if the path is `-`. */
export const recordingInput = (path: string, raw?: RawPcm): AudioInput =>
  path === '-' ? {name: 'standard input', stream: process.stdin, raw} : {path: resolve(path), raw}

/** Offset of the first invalid byte: decoding replaces it, so the re-encoded text differs from there on. */
function firstDifference(a: Buffer, b: Buffer): number {
  const at = a.findIndex((byte, i) => byte !== b[i])
  return at === -1 ? Math.min(a.length, b.length) : at
}
