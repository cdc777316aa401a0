import {existsSync, readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'

/** Folder of this package: the nearest ancestor of this file, compiled or bundled, with a `package.json`. */
export const packageRoot = findRoot(import.meta.dirname)

/** Reads the version of this package. */
export const packageVersion = (): string => JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version

function findRoot(folder: string): string {
  const parent = dirname(folder)
  return existsSync(join(folder, 'package.json')) || parent === folder ? folder : findRoot(parent)
}
