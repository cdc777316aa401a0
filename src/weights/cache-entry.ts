import {type FileHandle, open, readFile, stat, utimes, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {crc32} from 'node:zlib'

/** What a cached folder contains. */
export interface CacheDescription {
  /** Rounded copies of matrices, or a model in another format. */
  kind: 'quantised' | 'converted'
  /** Path of the model. */
  model: string
  /** Name, version and parameters of the conversion. */
  recipe: string
}

/** Manifest of a cached folder. Its modification time is the time of the last use. */
interface Manifest extends CacheDescription {
  format: typeof format
  /** Size and CRC-32 of each file. */
  files: Readonly<Record<string, FileSum>>
}

interface FileSum {
  bytes: number
  crc32: number
}

const format = 'svc.cache-entry.v1'

export const manifestName = 'entry.json'

/** The manifest of a folder; undefined if it has none that svc has written. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as Manifest
    const names = Object.keys(manifest.files)
    return manifest.format === format && names.every((name) => basename(name) === name && name !== '..')
      ? manifest
      : undefined
  } catch {
    return undefined
  }
}

/** Completes a folder: flushes its files to disk, then writes its manifest. */
export async function writeManifest(
  folder: string,
  names: readonly string[],
  description: CacheDescription,
): Promise<void> {
  const files: Record<string, FileSum> = {}
  for (const name of names) files[name] = await withFile(join(folder, name), 'r+', sumAndFlush)
  const manifest: Manifest = {format, ...description, files}
  await writeFile(join(folder, manifestName), JSON.stringify(manifest), {flush: true})
}

/** Whether a folder has a manifest, and each file has the size and checksum in it. */
export async function isIntact(folder: string): Promise<boolean> {
  const files = Object.entries((await readManifest(folder))?.files ?? {})
  try {
    for (const [name, {bytes}] of files) if ((await stat(join(folder, name))).size !== bytes) return false
    for (const [name, {crc32: sum}] of files) if ((await withFile(join(folder, name), 'r', sumOf)) !== sum) return false
    return files.length > 0
  } catch {
    return false
  }
}

/** Records a use; a folder that is not writable remains usable. */
export const recordUse = (folder: string): Promise<void> =>
  utimes(join(folder, manifestName), new Date(), new Date()).catch(() => undefined)

async function withFile<T>(file: string, flags: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, flags)
  try {
    return await work(handle)
  } finally {
    await handle.close()
  }
}

async function sumAndFlush(handle: FileHandle): Promise<FileSum> {
  await handle.sync()
  return {bytes: (await handle.stat()).size, crc32: await sumOf(handle)}
}

async function sumOf(handle: FileHandle): Promise<number> {
  const chunk = Buffer.allocUnsafe(1 << 20)
  let sum = 0
  for (let at = 0; ; ) {
    const {bytesRead} = await handle.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0) return sum
    sum = crc32(chunk.subarray(0, bytesRead), sum)
    at += bytesRead
  }
}
