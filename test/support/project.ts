import {existsSync} from 'node:fs'
import {fileURLToPath} from 'node:url'

/** A file of the project, whichever folder the tests were started from. The compiled file lies in dist/test/support. */
export const projectFile = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** A file of the shared test data beside the project, or undefined where that folder is absent. */
export function sharedData(path: string): string | undefined {
  const file = projectFile(`../shared/data/${path}`)
  return existsSync(file) ? file : undefined
}

/** For the `skip` option of a test: false when the data is there, else the reason. */
export const skipWithout = (path: string): string | false =>
  sharedData(path) === undefined ? `needs shared/data/${path} beside the project` : false
