import {lstat, realpath} from 'node:fs/promises'
import {dirname, isAbsolute, join, relative, resolve, sep} from 'node:path'
import {SvcError} from '../errors/index.js'

const outside = 'it lies outside of the workspace'

/** Paths that the system does not follow, whatever lies there. */
const unfollowed: Readonly<Record<string, string>> = {
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'it is too long',
}

/**
 * The real path of the file that a path of a caller names, which is below the root. A path outside of the root is refused
 * before the file system is read.
 * @param root of a workspace; also through a link
 * @param path relative to the root, or absolute
 * @throws path_denied; file_not_found and file_unreadable with the path of the caller
 */
export async function containedPath(root: string, path: string): Promise<string> {
  if (path.includes('\0')) throw denied(path, 'it is no path')
  const realRoot = await follow(root)
  const named = resolve(root, path)
  if (![resolve(root), realRoot].some((folder) => isWithin(folder, named))) throw denied(path, outside)
  const real = await follow(named, path)
  if (!isWithin(realRoot, real)) throw denied(path, outside)
  if (real === realRoot) throw denied(path, 'it is the folder of the workspace itself')
  return real
}

async function follow(path: string, named = path): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const reason = unfollowed[(error as NodeJS.ErrnoException).code ?? '']
    throw reason === undefined ? SvcError.from(Object.assign(error as Error, {path: named})) : denied(named, reason)
  }
}

/** Folders in which svc and git keep their own files. */
const reserved = new Set(['.git', '.svc'])

/**
 * Where a file is to be written: a path below the root that no link leads out of, which is not in a folder of a tool, and
 * is that of a regular file or of none.
 * @param root of a workspace; also through a link
 * @param path relative to the root, with slashes
 * @throws path_denied, output_exists
 */
export async function containedOutput(root: string, path: string): Promise<string> {
  const fault = faultOfOutput(path)
  if (fault !== undefined) throw denied(path, fault)
  const realRoot = await follow(root)
  const target = join(realRoot, path)
  const reason = await faultOfFolder(realRoot, dirname(target))
  if (reason !== undefined) throw denied(path, reason)
  const found = await entryAt(target)
  if (found !== undefined && !found.isFile()) throw new SvcError('output_exists', {path, flag: undefined})
  return target
}

/** What is wrong with a path as it is written. */
function faultOfOutput(path: string): string | undefined {
  const parts = path.split('/')
  if (path.includes('\0') || path.includes('\\') || path.trim() === '') return 'it is no path with slashes'
  if (isAbsolute(path) || /^[a-z]:/i.test(path)) return 'it is not relative to the root of the workspace'
  if (parts.includes('..')) return 'it has a part ".."'
  if (['', '.'].includes(parts.at(-1) ?? '')) return 'it names a folder'
  return faultOfParts(parts)
}

/** What is wrong with a folder that a file shall lie in, where it is there or can be made. */
async function faultOfFolder(realRoot: string, folder: string): Promise<string | undefined> {
  const nearest = await nearestThatExists(folder)
  const real = await realpath(nearest).catch(() => undefined)
  if (real === undefined) return 'a link in it leads to nothing'
  if (!isWithin(realRoot, real)) return outside
  if (!(await entryAt(real))?.isDirectory()) return 'a file lies where it has a folder'
  return faultOfParts(relative(realRoot, real).split(sep))
}

function faultOfParts(parts: readonly string[]): string | undefined {
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
    throw SvcError.from(error)
  })

const denied = (path: string, reason: string) => new SvcError('path_denied', {path, reason})

/** Whether a path is a folder or lies below it, as they are written. */
function isWithin(folder: string, path: string): boolean {
  const between = relative(folder, path)
  return between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between)
}
