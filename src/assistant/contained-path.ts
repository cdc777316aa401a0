import {lstat, realpath} from 'node:fs/promises'
import {dirname, isAbsolute, join, relative, resolve, sep} from 'node:path'
import {SvcError} from '../errors/index.js'

const lies = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const outside = 'it lies outside of the workspace'

/**
 * The real path of what a path of a caller leads to, which lies in the workspace. Nothing outside of it is looked at
 * for a path that names it.
 * @throws path_refused; the error of the file system where there is no such file
 */
export async function realPathInside(root: string, path: string): Promise<string> {
  if (path.includes('\0'))
    throw new SvcError('path_refused', {path: path.replaceAll('\0', ''), reason: 'it is no path'})
  const realRoot = await realpath(root)
  const named = resolve(realRoot, path)
  if (!(lies(named, realRoot) || lies(resolve(root, path), resolve(root))))
    throw new SvcError('path_refused', {path, reason: outside})
  const real = await realpath(resolve(root, path))
  if (!lies(real, realRoot)) throw new SvcError('path_refused', {path, reason: outside})
  return real
}

/** Folders in which svc and git keep what decides about the workspace. */
const reserved = new Set(['.git', '.svc'])

/**
 * Where a file of the workspace is to be written: a path below the root that leads through no link to another place,
 * to a regular file or to nothing.
 * @throws path_refused, output_exists
 */
export async function outputInside(root: string, path: string): Promise<string> {
  const reason = faultOfOutput(path)
  if (reason !== undefined) throw new SvcError('path_refused', {path, reason})
  const realRoot = await realpath(root)
  const target = join(realRoot, path)
  const real = await realpath(await nearestThatExists(dirname(target))).catch(() => undefined)
  if (real === undefined || !lies(real, realRoot)) throw new SvcError('path_refused', {path, reason: outside})
  const found = await entryAt(target)
  if (found !== undefined && !found.isFile()) throw new SvcError('output_exists', {path, flag: undefined})
  return target
}

function faultOfOutput(path: string): string | undefined {
  const parts = path.split('/')
  if (path.includes('\0') || path.includes('\\') || path.trim() === '') return 'it is no path with slashes'
  if (isAbsolute(path) || /^[a-z]:/i.test(path)) return 'it is not relative to the root of the workspace'
  if (parts.includes('..')) return 'it has a part ".."'
  if (['', '.'].includes(parts.at(-1) ?? '')) return 'it names a folder'
  const kept = parts.find((part) => reserved.has(part.toLowerCase()))
  return kept === undefined ? undefined : `${kept} belongs to the tools`
}

/** A folder, or the nearest one above it that is there; also a link that leads nowhere. */
async function nearestThatExists(folder: string): Promise<string> {
  if ((await entryAt(folder)) !== undefined) return folder
  return nearestThatExists(dirname(folder))
}

const entryAt = (path: string) =>
  lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
