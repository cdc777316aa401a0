import {createHash} from 'node:crypto'
import {existsSync, readFileSync, realpathSync, statSync} from 'node:fs'
import {dirname, join, parse, resolve} from 'node:path'

/** Finds the nearest ancestor of `start` with a `.git`, or else `start` itself, with symbolic links resolved. */
export function repositoryRoot(start: string): string {
  const real = existsSync(start) ? realpathSync(start) : resolve(start)
  const {root} = parse(real)
  for (let folder = real; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === root) return real
  }
}

/**
 * Opaque id of the repository of a folder: 16 hexadecimal digits of the SHA-256 of its origin URL (without credentials)
 * and its root path. Two clones of one origin have different ids. Never throws.
 */
export function repositoryId(start: string): string {
  const root = repositoryRoot(start)
  const origin = originUrl(root)
  const identity = origin === undefined ? root : `${origin}\0${root}`
  return createHash('sha256').update(identity).digest('hex').slice(0, 16)
}

/** Reads `url` of `[remote "origin"]` without credentials. */
function originUrl(root: string): string | undefined {
  try {
    const config = readFileSync(join(gitFolder(root), 'config'), 'utf8')
    const section = /\[remote "origin"\]([^[]*)/.exec(config)?.[1] ?? ''
    const url = /^\s*url\s*=\s*(.+?)\s*$/m.exec(section)?.[1]
    return url?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
  } catch {
    return undefined
  }
}

/** Resolves `.git`, or the target of a work tree's `.git` file, to the folder that contains the configuration. */
function gitFolder(root: string): string {
  const git = join(root, '.git')
  if (statSync(git).isDirectory()) return git
  const pointer = /^gitdir:\s*(.+?)\s*$/m.exec(readFileSync(git, 'utf8'))?.[1] ?? git
  const folder = resolve(root, pointer)
  const common = join(folder, 'commondir')
  return existsSync(common) ? resolve(folder, readFileSync(common, 'utf8').trim()) : folder
}
