import {isAbsolute, relative, resolve, sep} from 'node:path'
import type {ManifestEntry} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'

const maxPathLength = 4096

/**
 * Normalises a path of a manifest: relative to the root, with `/`, without `.` and `..`. Symbolic links are not
 * followed: the path is only a name shared by locks and agents, and is checked again when the file is opened.
 * @throws task_path_escapes, task_invalid
 */
export function normalisePath(root: string, path: string): string {
  if (path.trim() === '' || path.includes('\0') || path.length > maxPathLength)
    throw new SvcError('task_path_escapes', {path: path.slice(0, 200)})
  // A drive letter means another root, even on systems without drives.
  if (/^[a-z]:[\\/]/i.test(path) && sep === '/') throw new SvcError('task_path_escapes', {path})
  const inside = relative(root, resolve(root, path))
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new SvcError('task_path_escapes', {path})
  return sep === '/' ? inside : inside.replaceAll(sep, '/')
}

/** One entry per file: write access includes read access. */
export function normaliseManifest(root: string, entries: readonly ManifestEntry[]): ManifestEntry[] {
  const files = new Map<string, ManifestEntry>()
  for (const {path, access} of entries) {
    const name = normalisePath(root, path)
    if (access === 'write' || !files.has(name)) files.set(name, {path: name, access})
  }
  return [...files.values()]
}
