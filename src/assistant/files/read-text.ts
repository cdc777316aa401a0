import {isUtf8} from 'node:buffer'
import {readFile, stat} from 'node:fs/promises'
import {SvcError} from '../../errors/index.js'
import {containedPath} from '../../files/index.js'

/** Maximum size of a file that is sent to a model, bytes. */
const maxFileBytes = 256 << 10

/**
 * Reads a text file of the workspace.
 * @throws path_denied if it is outside, file_not_found, file_unreadable if it is too large or not text
 */
export async function readWorkspaceText(root: string, path: string): Promise<string> {
  const real = await containedPath(root, path)
  const found = await stat(real)
  const refuse = (reason: string): never => {
    throw new SvcError('file_unreadable', {path, reason})
  }
  if (!found.isFile()) refuse('it is not a regular file')
  if (found.size > maxFileBytes) refuse(`it is larger than ${maxFileBytes} bytes`)
  const content = await readFile(real)
  if (!isUtf8(content) || content.includes(0)) refuse('it is not UTF-8 text')
  return content.toString('utf8')
}
