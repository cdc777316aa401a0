import {chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync} from 'node:fs'
import {freemem, tmpdir} from 'node:os'
import {join} from 'node:path'
import {isRunning, killIfRunning} from '../../src/process/index.js'

const memory = '/dev/shm'
const needed = 4 * 2 ** 30

/** Where the folder of a run is: in memory if there is enough, because tests that open a database wait for the disk. */
function parentFolder(): string {
  const {bavail, bsize} = existsSync(memory) ? statfsSync(memory) : {bavail: 0, bsize: 0}
  return bavail * bsize > needed && freemem() > 2 * needed ? memory : tmpdir()
}

/**
 * Creates the folder for all temporary files of a run, with the pid of the run in its name. Removes the folders of runs that
 * were killed.
 */
export function createTemporaryFolder(parent = parentFolder()): string {
  for (const name of readdirSync(parent)) {
    const pid = /^svc-tests-(\d+)-/.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) removeTemporaryFolder(join(parent, name))
  }
  const folder = mkdtempSync(join(parent, `svc-tests-${process.pid}-`))
  // Like the folder for temporary files of the system, it is for all users: some tests run programs as another one.
  chmodSync(folder, 0o1777)
  return folder
}

/**
 * Removes the folder of a run, and ends the processes that use it.
 * @returns the command lines of these processes
 */
export function removeTemporaryFolder(folder: string): string[] {
  const left = processesOf(folder)
  for (const {pid} of left) killIfRunning(pid)
  rmSync(folder, {recursive: true, force: true, maxRetries: 5})
  return left.map(({command}) => command)
}

/** Removes the folder and ends its processes, such as workers and daemons, when this process is stopped by a signal. */
export function removeOnSignals(folder: string): void {
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const)
    process.on(signal, () => {
      removeTemporaryFolder(folder)
      process.exit(128 + number)
    })
}

/** The other processes with the folder in their environment or command line, on Linux. */
function processesOf(folder: string): {pid: number; command: string}[] {
  if (!existsSync('/proc/self/environ')) return []
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isSafeInteger(pid) || pid === process.pid) return []
    const [environment, command] = ['environ', 'cmdline'].map((file) => textOf(join('/proc', name, file)))
    if (![environment, command].some((text) => text?.includes(folder))) return []
    return [{pid, command: (command ?? '').replaceAll('\0', ' ').trim()}]
  })
}

/** The content of a file of a process; empty if the process has ended or belongs to another user. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
