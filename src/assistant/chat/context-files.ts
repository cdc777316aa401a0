import {isUtf8} from 'node:buffer'
import {readFile, stat} from 'node:fs/promises'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {containedPath} from '../../files/index.js'

export interface ContextFile {
  /** As the caller wrote it. */
  path: string
  text: string
}

/** Bytes. */
const largestFile = 256 << 10
const mostTogether = 512 << 10

/**
 * Reads files of the workspace, each once: the same file by another path is no other file.
 * @throws path_denied where one lies outside, context_file_missing, context_file_unusable where one is no text or too
 *   large
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
    if (bytes > mostTogether) throw unusable(path, `with it the files are larger than ${mostTogether} bytes`)
    files.push({path, text: content.toString('utf8').replace(/^\uFEFF/, '')})
  }
  return files
}

const unusable = (path: string, reason: string) => new SvcError('context_file_unusable', {path, reason})

async function readText(real: string, path: string): Promise<Buffer> {
  const found = await stat(real)
  if (!found.isFile()) throw unusable(path, 'it is no regular file')
  if (found.size > largestFile) throw unusable(path, `it is larger than ${largestFile} bytes`)
  const content = await readFile(real)
  if (content.length > largestFile) throw unusable(path, `it is larger than ${largestFile} bytes`)
  if (!isUtf8(content) || content.includes(0)) throw unusable(path, 'it is no UTF-8 text')
  return content
}

/** What went wrong with a file, as it is told of one that comes with a message. */
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
