import {randomBytes, randomUUID} from 'node:crypto'
import {link, mkdir, readFile, rm, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {writeFault} from '../../files/index.js'

/** Excludes blanks and control characters, which other programs may not handle. */
const plausible = /^[\w.:@-]{1,255}$/

/**
 * Returns the stored id of this machine, and creates it on the first call. Concurrent first calls return the same id.
 * @throws file_unwritable; file_unreadable if the file does not contain a node id
 */
export async function storedNodeId(path: string): Promise<string> {
  const id = await readNodeId(path)
  if (id !== undefined) return id
  return createNodeId(path).catch((error: unknown) => {
    throw writeFault(error, path)
  })
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

/** Hard-links a complete draft to the path: readers never see a partial id, and only the first link succeeds. */
async function createNodeId(path: string): Promise<string> {
  const folder = dirname(path)
  await mkdir(folder, {recursive: true, mode: 0o700})
  const draft = join(folder, `.node-id-${randomUUID().slice(0, 8)}`)
  const id = `node-${randomBytes(8).toString('hex')}`
  try {
    await writeFile(draft, `${id}\n`, {mode: 0o600, flag: 'wx'})
    await link(draft, path)
    return id
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return (await readNodeId(path)) ?? id
  } finally {
    await rm(draft, {force: true})
  }
}
