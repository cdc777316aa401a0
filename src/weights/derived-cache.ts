import {createHash, randomUUID} from 'node:crypto'
import {existsSync} from 'node:fs'
import {mkdir, open, readdir, realpath, rename, rm} from 'node:fs/promises'
import {homedir} from 'node:os'
import {basename, join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {holdOpen, withLockFile} from '../files/index.js'
import type {FileUser} from '../process/index.js'
import {type CacheDescription, isIntact, manifestName, recordUse, writeManifest} from './cache-entry.js'

/** Bytes at the start of a file that are part of its cache key, in addition to size and time; includes the header. */
const sampleBytes = 1 << 20

/** Cache folder of files derived from models. */
export function derivedFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env.SVC_SPEECH_CACHE_DIR) return join(env.SVC_SPEECH_CACHE_DIR, 'derived')
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc', 'derived')
}

export interface Derivation extends CacheDescription {
  /** Cache folder. */
  folder: string
  /** Files from which it is derived. */
  sources: readonly string[]
}

/**
 * Folder of files that are derived from a model. Creates it if it is missing or damaged: the sizes and checksums of all
 * files are checked. Of concurrent processes, one creates it, and the others wait. An interrupted process leaves a
 * temporary folder, which is never used and which the next one removes.
 *
 * The name of the folder is a hash of the recipe and of the sizes, modification times and first bytes of the sources. To
 * hash all bytes of a large model at each start would take too long. So a source that changes in place is recognised by
 * its modification time, which every write sets.
 * @param make writes files to a folder
 * @throws cache_unwritable; what `make` throws
 */
export async function derivedFiles(derivation: Derivation, make: (folder: string) => Promise<void>): Promise<string> {
  const {folder, sources, recipe} = derivation
  const entry = join(folder, await derivedKey(sources, recipe))
  holdEntry(entry)
  // A process that deletes entries first takes the lock and then looks for users, so it has seen this one, or its lock is here.
  if (existsSync(lockOf(entry)) || !(await isIntact(entry))) {
    try {
      await withLockFile(lockOf(entry), undefined, async () => {
        await create(entry, derivation, make)
        holdEntry(entry)
      })
    } catch (error) {
      throw asUnwritable(folder, error)
    }
  }
  await recordUse(entry)
  return entry
}

/** Shows other processes that this one uses an entry. No effect if there is none yet. */
const holdEntry = (entry: string) => holdOpen(join(entry, manifestName))

/** The other processes that use an entry. */
export async function usersOfEntry(entry: string): Promise<FileUser[]> {
  const {usersOf} = await import('../process/index.js')
  return usersOf(join(entry, manifestName))
}

/** Held while a folder is created or removed. */
export const lockOf = (entry: string): string => `${entry}.lock`

/** Temporary folders of an entry that are left over if its lock is not held. */
const isPartialOf = (entry: string, name: string): boolean =>
  name.startsWith(`${basename(entry)}.`) && name.endsWith('.new')

async function create(
  entry: string,
  {folder, kind, model, recipe}: Derivation,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  // Another process may have created it meanwhile.
  if (await isIntact(entry)) return
  const old = (await readdir(folder)).filter((name) => isPartialOf(entry, name))
  for (const name of old) await rm(join(folder, name), {recursive: true, force: true})
  const partial = `${entry}.${randomUUID().slice(0, 8)}.new`
  try {
    await mkdir(partial)
    await make(partial)
    await writeManifest(partial, await readdir(partial), {kind, model, recipe})
    // A folder cannot replace another one.
    await rm(entry, {recursive: true, force: true})
    await rename(partial, entry)
  } finally {
    await rm(partial, {recursive: true, force: true})
  }
}

function asUnwritable(folder: string, error: unknown): unknown {
  const {code = ''} = error as NodeJS.ErrnoException
  if (code !== 'disk_full' && !['ENOSPC', 'EACCES', 'EROFS', 'EPERM', 'EDQUOT', 'EEXIST', 'ENOTDIR'].includes(code))
    return error
  const reason = (error as Error).message.replace(/\.$/, '')
  return new SvcError('cache_unwritable', {folder, reason}, {cause: error})
}

/** Hash of a recipe and of the sizes, times and first bytes of its sources. */
export async function derivedKey(sources: readonly string[], recipe: string): Promise<string> {
  const hash = createHash('sha256').update(recipe)
  for (const source of sources) {
    const handle = await open(await realpath(source)).catch((error: unknown) => {
      throw SvcError.from(error)
    })
    try {
      const {size, mtimeNs} = await handle.stat({bigint: true})
      const start = Buffer.alloc(Math.min(sampleBytes, Number(size)))
      await handle.read(start, 0, start.length, 0)
      hash.update(`\n${size} ${mtimeNs}\n`).update(start)
    } finally {
      await handle.close()
    }
  }
  return hash.digest('hex').slice(0, 32)
}
