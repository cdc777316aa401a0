import {randomBytes} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {writeFileAtomic} from '../../files/index.js'

/** Excludes blanks and control characters, which other programs may not handle. */
const plausible = /^[\w.:@-]{1,255}$/

/**
 * Returns the stored id of this machine, and creates it on the first call. Concurrent first calls return the same id.
 * @throws file_unwritable; file_unreadable if the file does not contain a node id
 */
export async function storedNodeId(path: string): Promise<string> {
  const id = await readNodeId(path)
  return id ?? createNodeId(path)
}

/**
 * Reads the stored id; undefined if there is none.
 * @throws file_unreadable if the file cannot be read or does not contain a node id
 */
export async function readNodeId(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw SvcError.from(Object.assign(error, {path}))
  })
  const id = text?.trim()
  if (id !== undefined && !plausible.test(id))
    throw new SvcError('file_unreadable', {path, reason: 'the file does not contain a node id'})
  return id
}

/** Readers never see a part of an id, and only the first of concurrent writers succeeds. */
async function createNodeId(path: string): Promise<string> {
  const id = `node-${randomBytes(8).toString('hex')}`
  try {
    await writeFileAtomic(path, `${id}\n`, {mode: 0o600, folderMode: 0o700, keep: true})
    return id
  } catch (error) {
    if (!isErrorOf(error, 'output_exists')) throw error
    return (await readNodeId(path)) ?? id
  }
}
