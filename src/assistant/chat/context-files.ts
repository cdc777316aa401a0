import {isUtf8} from 'node:buffer'
import {readFile, stat} from 'node:fs/promises'
import {SvcError} from '../../errors/index.js'
import {realPathInside} from '../contained-path.js'

/** A file that a model reads. */
export interface ContextFile {
  /** As the caller wrote it. */
  path: string
  text: string
}

/** Bytes. */
const largestFile = 256 << 10
const mostTogether = 512 << 10

/**
 * Reads files of the workspace.
 * @throws path_refused where one lies outside, context_file_unusable where one is no text or too large
 */
export async function readContextFiles(root: string, paths: readonly string[]): Promise<ContextFile[]> {
  const files: ContextFile[] = []
  let bytes = 0
  for (const path of paths) {
    const content = await readText(root, path)
    bytes += content.length
    if (bytes > mostTogether) throw unusable(path, `with it the files are larger than ${mostTogether} bytes`)
    files.push({path, text: content.toString('utf8').replace(/^\uFEFF/, '')})
  }
  return files
}

const unusable = (path: string, reason: string) => new SvcError('context_file_unusable', {path, reason})

async function readText(root: string, path: string): Promise<Buffer> {
  try {
    const real = await realPathInside(root, path)
    const found = await stat(real)
    if (!found.isFile()) throw unusable(path, 'it is no regular file')
    if (found.size > largestFile) throw unusable(path, `it is larger than ${largestFile} bytes`)
    const content = await readFile(real)
    if (content.length > largestFile) throw unusable(path, `it is larger than ${largestFile} bytes`)
    if (!isUtf8(content) || content.includes(0)) throw unusable(path, 'it is no UTF-8 text')
    return content
  } catch (error) {
    if (error instanceof SvcError) throw error
    const {code, message} = error as NodeJS.ErrnoException
    throw unusable(path, code === 'ENOENT' || code === 'ENOTDIR' ? 'there is no such file' : message)
  }
}
