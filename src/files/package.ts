import {existsSync} from 'node:fs'
import {dirname, join} from 'node:path'

/** The folder of this package: the nearest above the running file, compiled or bundled, that has a `package.json`. */
export const packageRoot = findRoot(import.meta.dirname)

function findRoot(folder: string): string {
  const parent = dirname(folder)
  return existsSync(join(folder, 'package.json')) || parent === folder ? folder : findRoot(parent)
}
