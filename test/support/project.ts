import {existsSync} from 'node:fs'
import {fileURLToPath} from 'node:url'

/** A file of the project, independent of the current folder. This module is compiled to dist/test/support. */
export const projectFile = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** A file of the shared test data next to the project; undefined if that folder is absent. */
export function sharedData(path: string): string | undefined {
  const file = projectFile(`../shared/data/${path}`)
  return existsSync(file) ? file : undefined
}

/** For the `skip` option of a test: false if the data exists, else the reason. */
export const skipWithout = (path: string): string | false =>
  sharedData(path) === undefined ? `needs shared/data/${path} beside the project` : false
