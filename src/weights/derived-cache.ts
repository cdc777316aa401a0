import {createHash, randomUUID} from 'node:crypto'
import {mkdir, open, realpath, rename, rm} from 'node:fs/promises'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'

/** Bytes at the start of a file that are part of its cache key, in addition to size and time; includes the header. */
const sampleBytes = 1 << 20

/** Cache folder of files derived from models. */
export function derivedFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env.SVC_SPEECH_CACHE_DIR) return join(env.SVC_SPEECH_CACHE_DIR, 'derived')
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc', 'derived')
}

export interface DerivedFile {
  folder: string
  /** Files from which it is derived. */
  sources: readonly string[]
  /** Name and version of the conversion. */
  recipe: string
  /** End of the name, such as `.safetensors`. */
  extension: string
}

/**
 * Path of a derived file; creates it if it is missing or invalid. Its name is a hash of the recipe and of the sizes,
 * times and first bytes of the sources, so a changed model has another file. Concurrent processes may create it at the
 * same time.
 * @param make writes the file to a path
 * @param isValid whether an existing file can be used
 * @throws cache_unwritable; what `make` throws
 */
export async function derivedFile(
  {folder, sources, recipe, extension}: DerivedFile,
  make: (partial: string) => Promise<void>,
  isValid: (file: string) => Promise<boolean>,
): Promise<string> {
  const file = join(folder, `${await keyOf(sources, recipe)}${extension}`)
  if (await isValid(file).catch(() => false)) return file
  await mkdir(folder, {recursive: true}).catch((error: Error) => {
    throw unwritable(folder, error)
  })
  const partial = `${file}.${randomUUID().slice(0, 8)}.new`
  try {
    await make(partial)
    await rename(partial, file).catch(async () => {
      // A folder cannot replace an existing one. Use that one if it is valid, for example from another process.
      if (await isValid(file).catch(() => false)) return
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
