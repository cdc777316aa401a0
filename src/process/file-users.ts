import {execFile} from 'node:child_process'
import {readdir, readFile, readlink, realpath} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {promisify} from 'node:util'
import {processes} from './identity.js'

/** A process of this machine. */
export interface FileUser {
  pid: number
  /** The program and the words of its command line up to the first option: `svc db serve`. */
  command: string
}

/**
 * The other processes that have a file or directory open, or one of several, as far as this user may see them. They are found
 * in `/proc` on Linux, and with `lsof` on other Unix systems. Empty where neither exists.
 */
export async function usersOf(path: string | readonly string[]): Promise<FileUser[]> {
  const targets = await Promise.all([path].flat().map((each) => realpath(each).catch(() => each)))
  const pids = (await pidsFromProc(new Set(targets))) ?? (await pidsFromLsof(targets))
  const users = await Promise.all(
    pids.filter((pid) => pid !== process.pid).map(async (pid) => ({pid, command: commandOf(await argumentsOf(pid))})),
  )
  return users.sort((a, b) => a.pid - b.pid)
}

/** The users of a file for messages, if necessary only some; empty if there are none. */
export const usersText = async (path: string, isMeant = (_user: FileUser) => true): Promise<string> =>
  namesOf((await usersOf(path)).filter(isMeant))

/** `process 7 (svc db serve), process 9 (svc serve)` */
export const namesOf = (users: readonly FileUser[]): string =>
  users.map(({pid, command}) => `process ${pid} (${command})`).join(', ')

async function pidsFromProc(wanted: ReadonlySet<string>): Promise<number[] | undefined> {
  const pids = processes()
  if (pids.length === 0) return undefined
  const found = await Promise.all(
    pids.map(async (pid) => {
      const folder = `/proc/${pid}/fd`
      const files = await readdir(folder).catch(() => [])
      const targets = await Promise.all(files.map((file) => readlink(join(folder, file)).catch(() => '')))
      return targets.some((target) => wanted.has(target)) ? [pid] : []
    }),
  )
  return found.flat()
}

const pidsFromLsof = (targets: readonly string[]): Promise<number[]> =>
  promisify(execFile)('lsof', ['-t', '--', ...targets]).then(
    ({stdout}) => stdout.split('\n').filter(Boolean).map(Number),
    () => [],
  )

async function argumentsOf(pid: number): Promise<string[]> {
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined)
  if (fromProc !== undefined) return fromProc.split('\0').filter(Boolean)
  const listed = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({stdout: ''}))
  return listed.stdout.trim().split(/\s+/)
}

/** Without options and their values, which may be secret; the name of a script instead of that of its interpreter. */
function commandOf([program = '', ...args]: readonly string[]): string {
  const isNode = /^node(\.exe)?$/.test(basename(program))
  const scriptAt = isNode ? args.findIndex((arg) => !arg.startsWith('-')) : -1
  const name = basename(scriptAt < 0 ? program : (args[scriptAt] ?? '')).replace(/\.[cm]?js$/, '')
  const words = args.slice(scriptAt + 1)
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
  return [name, ...(end < 0 ? words : words.slice(0, end))].join(' ')
}
