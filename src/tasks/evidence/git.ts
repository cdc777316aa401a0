import {existsSync} from 'node:fs'
import {dirname, join} from 'node:path'

/**
 * Reads a git repository with settings that run no program of the repository: a workspace may come from a stranger.
 * Without git or a repository, the functions return nothing.
 */
const safely = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']
const timeoutMs = 30_000
const listBytes = 2 ** 26

/** True if a folder or one above it contains `.git`: starting git for nothing takes longer than this. */
function isInRepository(folder: string): boolean {
  const parent = dirname(folder)
  return existsSync(join(folder, '.git')) || (parent !== folder && isInRepository(parent))
}

async function git(root: string, args: readonly string[], options: {input?: string; maxBuffer: number}) {
  if (!isInRepository(root)) return undefined
  const {execa} = await import('execa')
  const {exitCode, stdout} = await execa('git', ['-C', root, ...safely, ...args], {
    ...options,
    encoding: 'buffer',
    reject: false,
    stderr: 'ignore',
    timeout: timeoutMs,
    env: {GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0'},
  })
  return exitCode === 0 ? Buffer.from(stdout) : undefined
}

/** Paths of the files that are tracked or not ignored, relative to the root; undefined without a repository. */
export async function trackedFiles(root: string): Promise<string[] | undefined> {
  const listed = await git(root, ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    maxBuffer: listBytes,
  })
  return listed === undefined ? undefined : [...new Set(listed.toString('utf8').split('\0'))].filter(Boolean)
}

/**
 * The content of files in the last commit, by path.
 * @param most larger files are omitted, bytes
 */
export async function committedFiles(
  root: string,
  paths: readonly string[],
  maxBytes: number,
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>()
  const asked = paths.filter((path) => !/[\n\r]/.test(path))
  if (asked.length === 0) return files
  const maxBuffer = (maxBytes + 200) * asked.length
  const input = asked.map((path) => `HEAD:./${path}\n`).join('')
  const answer = await git(root, ['cat-file', '--batch'], {input, maxBuffer})
  if (answer === undefined) return files
  let at = 0
  for (const path of asked) {
    const end = answer.indexOf(10, at)
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(answer.toString('utf8', at, end))?.[1]
    at = end + 1
    if (size === undefined) continue
    if (Number(size) <= maxBytes) files.set(path, answer.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return files
}
