import {accessSync, constants, mkdirSync} from 'node:fs'
import module from 'node:module'
import {homedir} from 'node:os'
import {dirname, join} from 'node:path'

/** Exists since Node 22.1; the installed types are those of Node 20. */
const {enableCompileCache} = module as {enableCompileCache?: (folder: string) => unknown}

/**
 * Stores the compiled code of the executable in svc's cache folder, so that later starts skip compilation. No effect on
 * Node 20 or if the folder is not writable. `NODE_COMPILE_CACHE` takes precedence; `NODE_DISABLE_COMPILE_CACHE` turns
 * it off.
 */
export function useCompileCache(env: NodeJS.ProcessEnv = process.env): void {
  if (enableCompileCache === undefined || env.NODE_COMPILE_CACHE !== undefined) return
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc')
  if (isWritable(join(cache, 'compiled'))) enableCompileCache(join(cache, 'compiled'))
}

/**
 * Creates the folder if necessary; true if it is writable. Creates one level at a time: Node's recursive creation, which
 * the compile cache uses too, never returns below `/proc`.
 */
function isWritable(folder: string): boolean {
  try {
    for (const part of [dirname(dirname(folder)), dirname(folder), folder]) makeFolder(part)
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, {mode: 0o700})
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
