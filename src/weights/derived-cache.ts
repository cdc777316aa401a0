import {createHash, randomUUID} from 'node:crypto'
import {mkdir, open, realpath, rename, rm} from 'node:fs/promises'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'

/** How much of a file tells it from another of the same size and time, bytes: its header, and more. */
const sampleBytes = 1 << 20

/** Folder of files that were made from models and can be made again. */
export function derivedFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env.SVC_SPEECH_CACHE_DIR) return join(env.SVC_SPEECH_CACHE_DIR, 'derived')
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc', 'derived')
}

export interface DerivedFile {
  folder: string
  /** Files it is made from. */
  sources: readonly string[]
  /** What is made of them, with the version of how. */
  recipe: string
  /** End of the name, such as `.safetensors`. */
  extension: string
}

/**
 * Where a file made from others lies; it is made where it is not there yet, or no longer sound. The name follows from
 * the sources' sizes, times and beginnings and from the recipe, so a changed model is a new file. Two processes that
 * make it at once both succeed.
 * @param make writes the file it is given
 * @param isSound whether a file that is there can be used
 * @throws cache_unwritable; what `make` throws
 */
export async function derivedFile(
  {folder, sources, recipe, extension}: DerivedFile,
  make: (partial: string) => Promise<void>,
  isSound: (file: string) => Promise<boolean>,
): Promise<string> {
  const file = join(folder, `${await keyOf(sources, recipe)}${extension}`)
  if (await isSound(file).catch(() => false)) return file
  await mkdir(folder, {recursive: true}).catch((error: Error) => {
    throw unwritable(folder, error)
  })
  const partial = `${file}.${randomUUID().slice(0, 8)}.new`
  try {
    await make(partial)
    await rename(partial, file).catch(async () => {
      // A folder cannot replace one that is there: of another process, and sound, or damaged.
      if (await isSound(file).catch(() => false)) return
      await rm(file, {force: true, recursive: true})
      await rename(partial, file)
    })
    return file
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException
    const full = error instanceof SvcError && error.code === 'disk_full'
    throw full || ['ENOSPC', 'EACCES', 'EROFS', 'EPERM', 'EDQUOT'].includes(code ?? '')
      ? unwritable(folder, error as Error)
      : error
  } finally {
    await rm(partial, {force: true, recursive: true})
  }
}

const unwritable = (folder: string, cause: Error) =>
  new SvcError('cache_unwritable', {folder, reason: cause.message.replace(/\.$/, '')}, {cause})

async function keyOf(sources: readonly string[], recipe: string): Promise<string> {
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
