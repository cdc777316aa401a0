import {isUtf8} from 'node:buffer'
import {readFile, stat} from 'node:fs/promises'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {containedPath} from '../../files/index.js'

export interface ContextFile {
  /** As specified by the caller. */
  path: string
  text: string
}

/** Size limits in bytes. */
const maxFileBytes = 256 << 10
const maxTogether = 512 << 10

/**
 * Reads files of the workspace, each only once even if it is listed under several paths.
 * @throws path_denied if a file is outside, context_file_missing, context_file_unusable if a file is too large or not
 *   text
 */
export async function readContextFiles(root: string, paths: readonly string[]): Promise<ContextFile[]> {
  const files: ContextFile[] = []
  const read = new Set<string>()
  let bytes = 0
  for (const path of paths) {
    const real = await containedPath(root, path).catch(refuse(path))
    if (read.has(real)) continue
    read.add(real)
    const content = await readText(real, path).catch(refuse(path))
    bytes += content.length
    if (bytes > maxTogether) throw unusable(path, `the files exceed ${maxTogether} bytes in total`)
    files.push({path, text: content.toString('utf8').replace(/^\uFEFF/, '')})
  }
  return files
}

const unusable = (path: string, reason: string) => new SvcError('context_file_unusable', {path, reason})

async function readText(real: string, path: string): Promise<Buffer> {
  const found = await stat(real)
  if (!found.isFile()) throw unusable(path, 'it is not a regular file')
  if (found.size > maxFileBytes) throw unusable(path, `it is larger than ${maxFileBytes} bytes`)
  const content = await readFile(real)
  if (content.length > maxFileBytes) throw unusable(path, `it is larger than ${maxFileBytes} bytes`)
  if (!isUtf8(content) || content.includes(0)) throw unusable(path, 'it is not UTF-8 text')
  return content
}

/** Converts an error of a file to one about a context file. */
const refuse = (path: string) => (thrown: unknown) => {
  const error = SvcError.from(thrown)
  if (isErrorOf(error, 'path_denied') || isErrorOf(error, 'context_file_unusable')) throw error
  if (isErrorOf(error, 'file_not_found')) throw new SvcError('context_file_missing', {path})
  throw unusable(path, reasonOf(error))
}

function reasonOf(error: SvcError): string {
  const hasReason = isErrorOf(error, 'file_unreadable') || isErrorOf(error, 'internal')
  return hasReason ? error.params.reason : error.message.replace(/\.$/, '')
}
