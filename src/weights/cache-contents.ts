import {lstat, readdir, rm, rmdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {holdLockFile, writeFault} from '../files/index.js'
import type {FileUser} from '../process/index.js'
import {type CacheDescription, manifestName, readManifest} from './cache-entry.js'
import {lockOf, usersOfEntry} from './derived-cache.js'
import {pruneDigests} from './file-digests.js'

/** A folder in the cache, or a file in its folder `prefixes`. */
export interface CacheEntry extends Omit<CacheDescription, 'kind'> {
  /** Path relative to the cache. */
  id: string
  /**
   * `prefix`: keys and values of the beginning of a prompt. `partial`: left over from a process that was interrupted, or
   * being written. The model and recipe of both are empty.
   */
  kind: CacheDescription['kind'] | 'prefix' | 'partial'
  bytes: number
  /** Time of the last use or, of a partial folder, of the last change; Unix ms. */
  lastUsedMs: number
}

/** Names that svc gives to entries, their locks and partial folders. */
const named = /^([0-9a-f]{32})(\.[0-9a-f]{8}\.new)?$/

/** Folder in the cache with prompt prefixes, and the names of its files. */
export const prefixFolder = 'prefixes'
const prefixNamed = /^[0-9a-f]{32}-[0-9a-f]{32}\.prefix$/

/**
 * Lists the folders and files that svc has written to the cache, in the order of their last use. A folder without a manifest, and
 * any other file, is not from svc and is ignored.
 * @throws file_unreadable
 */
export async function listCache(folder: string): Promise<CacheEntry[]> {
  const [names, prefixes] = [await namesIn(folder), await namesIn(join(folder, prefixFolder))]
  const entries = await Promise.all([
    ...names.map((name) => describe(folder, name)),
    ...prefixes.filter((name) => prefixNamed.test(name)).map((name) => describePrefix(folder, name)),
  ])
  return entries.filter((entry) => entry !== undefined).sort((a, b) => a.lastUsedMs - b.lastUsedMs)
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') throw new SvcError('file_unreadable', {path: folder, reason: 'it is not a directory'})
    throw SvcError.from(error)
  })
}

/** Undefined if a server has replaced the file meanwhile. */
async function describePrefix(folder: string, name: string): Promise<CacheEntry | undefined> {
  const id = join(prefixFolder, name)
  const found = await stat(join(folder, id)).catch(() => undefined)
  return found && {id, kind: 'prefix', model: '', recipe: '', bytes: found.size, lastUsedMs: Math.round(found.mtimeMs)}
}

async function describe(folder: string, id: string): Promise<CacheEntry | undefined> {
  const [, , suffix] = named.exec(id) ?? [id, undefined, 'other']
  const path = join(folder, id)
  if (suffix === 'other' || !(await lstat(path)).isDirectory()) return undefined
  const manifest = await readManifest(path)
  const names = suffix === undefined ? [manifestName, ...Object.keys(manifest?.files ?? {})] : await readdir(path)
  const stats = await Promise.all(names.map((name) => stat(join(path, name)).catch(() => undefined)))
  const bytes = stats.reduce((sum, found) => sum + (found?.size ?? 0), 0)
  if (suffix !== undefined) {
    const changed = [await stat(path), ...stats].map((found) => found?.mtimeMs ?? 0)
    return {id, kind: 'partial', model: '', recipe: '', bytes, lastUsedMs: Math.round(Math.max(...changed))}
  }
  if (manifest === undefined) return undefined
  const {kind, model, recipe} = manifest
  return {id, kind, model, recipe, bytes, lastUsedMs: Math.round(stats[0]?.mtimeMs ?? 0)}
}

export interface PruneOptions {
  /** Minimum time since the last use, ms. */
  olderThanMs: number
  /** Return the entries without deleting them. */
  dryRun: boolean
  /** Unix ms. */
  now?: number
}

export interface Pruned {
  /** Deleted entries. */
  removed: CacheEntry[]
  /** Entries that would have been deleted, but that other processes use. */
  used: (CacheEntry & {users: FileUser[]})[]
}

/**
 * Deletes entries that were not used for some time, and the partial folders of processes that were interrupted. Entries
 * that a process creates at this moment, or has loaded, are kept. Also deletes old digests of files, which are no entries.
 * @throws file_unreadable, file_unwritable
 */
export async function pruneCache(
  folder: string,
  {olderThanMs, dryRun, now = Date.now()}: PruneOptions,
): Promise<Pruned> {
  const old = (await listCache(folder)).filter(
    ({kind, lastUsedMs}) => kind === 'partial' || now - lastUsedMs >= olderThanMs,
  )
  const pruned: Pruned = {removed: [], used: []}
  for (const entry of old) {
    if (entry.kind === 'prefix') {
      // A server that uses it has its contents in memory.
      if (!dryRun) await rm(join(folder, entry.id), {force: true})
      pruned.removed.push(entry)
      continue
    }
    const [, key = ''] = named.exec(entry.id) ?? []
    const lock = await holdLockFile(lockOf(join(folder, key)))
    if (lock === undefined) continue
    try {
      const path = join(folder, entry.id)
      const users = entry.kind === 'partial' ? [] : await usersOfEntry(path)
      if (users.length > 0) {
        pruned.used.push({...entry, users})
        continue
      }
      if (!dryRun) await remove(path, entry.kind === 'partial')
      pruned.removed.push(entry)
    } catch (error) {
      throw writeFault(error, join(folder, entry.id))
    } finally {
      await lock.release()
    }
  }
  if (!dryRun) await pruneDigests(folder, now - olderThanMs)
  return pruned
}

/** Of a complete entry, deletes only the files in its manifest: other files may be the user's. */
async function remove(path: string, isPartial: boolean): Promise<void> {
  if (isPartial) return rm(path, {recursive: true, force: true})
  const names = Object.keys((await readManifest(path))?.files ?? {})
  for (const name of [manifestName, ...names]) await rm(join(path, name), {force: true})
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY') throw error
  })
}
