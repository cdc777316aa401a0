import {createHash} from 'node:crypto'
import {existsSync, readFileSync, realpathSync, statSync} from 'node:fs'
import {dirname, join, parse, resolve} from 'node:path'

/** The nearest folder, from `start` upwards, that holds `.git`; without one, `start` itself, symlinks resolved. */
export function repositoryRoot(start: string): string {
  const real = existsSync(start) ? realpathSync(start) : resolve(start)
  const {root} = parse(real)
  for (let folder = real; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === root) return real
  }
}

/**
 * An opaque id of the repository around a folder: 16 hexadecimal digits of the SHA-256 of its origin URL (without
 * credentials) and its root path. Two clones of one origin have different ids. Never fails.
 */
export function repositoryId(start: string): string {
  const root = repositoryRoot(start)
  const origin = originUrl(root)
  const identity = origin === undefined ? root : `${origin}\0${root}`
  return createHash('sha256').update(identity).digest('hex').slice(0, 16)
}

/** `url` of `[remote "origin"]`, credentials stripped. */
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

/** `.git` itself, or where a work tree's `.git` file points: its common folder holds the configuration. */
function gitFolder(root: string): string {
  const git = join(root, '.git')
  if (statSync(git).isDirectory()) return git
  const pointer = /^gitdir:\s*(.+?)\s*$/m.exec(readFileSync(git, 'utf8'))?.[1] ?? git
  const folder = resolve(root, pointer)
  const common = join(folder, 'commondir')
  return existsSync(common) ? resolve(folder, readFileSync(common, 'utf8').trim()) : folder
}
