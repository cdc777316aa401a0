import {randomBytes, randomUUID} from 'node:crypto'
import {link, mkdir, readFile, rm, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {writeFault} from '../../files/index.js'

/** What other programs can carry about: no blanks, no control characters, no end of a line. */
const plausible = /^[\w.:@-]{1,255}$/

/**
 * The id of this machine, which is made when it is first asked for and kept in a file. Of several processes that ask
 * first, all get the same.
 * @throws file_unwritable where it cannot be kept; file_unreadable where the file holds something else
 */
export async function keptNodeId(path: string): Promise<string> {
  const id = await readNodeId(path)
  if (id !== undefined) return id
  return keepNodeId(path).catch((error: unknown) => {
    throw writeFault(error, path)
  })
}

/**
 * The id that is kept, if any.
 * @throws file_unreadable where the file cannot be read, or holds something else
 */
export async function readNodeId(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw SvcError.from(Object.assign(error, {path}))
  })
  const id = text?.trim()
  if (id !== undefined && !plausible.test(id))
    throw new SvcError('file_unreadable', {path, reason: 'it holds no node id'})
  return id
}

/** Another name is given to a file that is whole already: nobody ever reads half an id, and only one name is given. */
async function keepNodeId(path: string): Promise<string> {
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
