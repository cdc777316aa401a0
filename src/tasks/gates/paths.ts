import {posix, sep} from 'node:path'
import {matchesGlob} from '../../workspace/index.js'

/** Normalises a path relative to the workspace root, for comparison: `./src//a.ts` becomes `src/a.ts`. */
export function comparablePath(path: string): string {
  const normal = posix.normalize((sep === '/' ? path : path.replaceAll(sep, '/')).trim())
  return normal.endsWith('/') ? normal.slice(0, -1) : normal
}

/** True if a path is the one named or matches the pattern. */
export const isNamedBy = (path: string, nameOrPattern: string): boolean => {
  const name = comparablePath(nameOrPattern)
  return comparablePath(path) === name || matchesGlob(path, name)
}
