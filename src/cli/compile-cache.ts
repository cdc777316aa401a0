import {accessSync, constants, mkdirSync} from 'node:fs'
import module from 'node:module'
import {homedir} from 'node:os'
import {dirname, join} from 'node:path'

/** Of Node >= 22.1; the types are those of the oldest Node. */
const {enableCompileCache} = module as {enableCompileCache?: (folder: string) => unknown}

/**
 * Has V8 keep the compiled code of the executable in svc's cache folder, which spares each later start the compilation.
 * Without effect on Node 20, and where the folder cannot be written. `NODE_COMPILE_CACHE` goes first, and
 * `NODE_DISABLE_COMPILE_CACHE` switches it off.
 */
export function useCompileCache(env: NodeJS.ProcessEnv = process.env): void {
  if (enableCompileCache === undefined || env.NODE_COMPILE_CACHE !== undefined) return
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc')
  if (isWritable(join(cache, 'compiled'))) enableCompileCache(join(cache, 'compiled'))
}

/**
 * Whether a folder is there, or can be made below a home that is there. Made one folder at a time: Node's recursive
 * creation, which the compile cache uses too, does not end below `/proc`.
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
