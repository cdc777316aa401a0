import {lstat, realpath} from 'node:fs/promises'
import {dirname, isAbsolute, join, relative, resolve, sep} from 'node:path'
import {SvcError} from '../errors/index.js'

const outside = 'it is outside the workspace'

/** System errors for paths that cannot be resolved. */
const unfollowed: Readonly<Record<string, string>> = {
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'it is too long',
}

/**
 * Resolves a caller's path to the real path of a file below the root. A path outside the root is refused before the
 * file system is accessed.
 * @param root folder of a workspace, possibly a symbolic link
 * @param path relative to the root, or absolute
 * @throws path_denied; file_not_found and file_unreadable with the caller's path
 */
export async function containedPath(root: string, path: string): Promise<string> {
  if (path.includes('\0')) throw denied(path, 'it contains a NUL character')
  const realRoot = await follow(root)
  const named = resolve(root, path)
  if (![resolve(root), realRoot].some((folder) => isWithin(folder, named))) throw denied(path, outside)
  const real = await follow(named, path)
  if (!isWithin(realRoot, real)) throw denied(path, outside)
  if (real === realRoot) throw denied(path, 'it is the workspace directory itself')
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

/** Folders of svc and git. */
const reserved = new Set(['.git', '.svc'])

/**
 * Resolves the path of an output file below the root. Symbolic links must not leave the root, the file must not be in a
 * folder of svc or git, and it must be a regular file if it exists.
 * @param root folder of a workspace, possibly a symbolic link
 * @param path relative to the root, with slashes
 * @throws path_denied, output_exists
 */
export async function containedOutput(root: string, path: string): Promise<string> {
  const problem = problemOfOutput(path)
  if (problem !== undefined) throw denied(path, problem)
  const realRoot = await follow(root)
  const target = join(realRoot, path)
  const reason = await problemOfFolder(realRoot, dirname(target))
  if (reason !== undefined) throw denied(path, reason)
  const found = await entryAt(target)
  if (found !== undefined && !found.isFile()) throw new SvcError('output_exists', {path, flag: undefined})
  return target
}

/** Checks a path without accessing the file system. @returns the reason for a refusal */
function problemOfOutput(path: string): string | undefined {
  const parts = path.split('/')
  if (path.includes('\0') || path.includes('\\') || path.trim() === '')
    return 'it is blank, or contains a backslash or a NUL character'
  if (isAbsolute(path) || /^[a-z]:/i.test(path)) return 'it is not relative to the workspace'
  if (parts.includes('..')) return 'it contains ".."'
  if (['', '.'].includes(parts.at(-1) ?? '')) return 'it is the path of a directory'
  return problemOfParts(parts)
}

/** Checks the existing or future folder of a file. @returns the reason for a refusal */
async function problemOfFolder(realRoot: string, folder: string): Promise<string | undefined> {
  const nearest = await nearestThatExists(folder)
  const real = await realpath(nearest).catch(() => undefined)
  if (real === undefined) return 'it contains a dangling symbolic link'
  if (!isWithin(realRoot, real)) return outside
  if (!(await entryAt(real))?.isDirectory()) return 'a part of the path is a file, not a directory'
  return problemOfParts(relative(realRoot, real).split(sep))
}

function problemOfParts(parts: readonly string[]): string | undefined {
  const folder = parts.find((part) => reserved.has(part.toLowerCase()))
  return folder === undefined ? undefined : `${folder} is reserved for svc and git`
}

/** Returns the folder, or its nearest existing ancestor, which may be a dangling symbolic link. */
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

/** True if a path is equal to or below a folder, by their text. */
export function isWithin(folder: string, path: string): boolean {
  const between = relative(folder, path)
  return between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between)
}
