import {closeSync, mkdirSync, openSync, readFileSync, statSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import type {Options} from 'execa'
import {SvcError} from '../errors/index.js'
import {writeFault} from '../files/index.js'
import {DaemonClient} from './client.js'
import {type Discovery, findDaemon} from './discovery.js'

export interface StartOptions {
  root: string
  /** Path of `bin/svc.js`. */
  binary: string
  /** Arguments of `svc daemon run`. */
  args: readonly string[]
  env: NodeJS.ProcessEnv
  token: string | undefined
  /** Timeout of the start, ms. */
  timeoutMs: number
  signal: AbortSignal
}

export interface StartedDaemon extends Discovery {
  addr: string
  log: string
}

const logPath = (root: string): string => join(root, '.svc', 'daemon.log')

/** Poll interval, ms. */
const pollMs = 50
/** Number of log lines in an error message. */
const tailLines = 3
const tailBytes = 4096

/**
 * Starts a daemon that outlives this process, and waits until it is ready.
 * @throws daemon_running, daemon_died with the end of its log, daemon_start_timeout; the reason of the signal
 */
export async function startDaemon(options: StartOptions): Promise<StartedDaemon> {
  const {root, binary, args, env, timeoutMs, signal} = options
  const {execa} = await import('execa')
  refuseSecond(root)
  const log = logPath(root)
  const file = openLog(log)
  const {size: logStart} = statSync(log)
  const child = execa(process.execPath, [...process.execArgv, binary, 'daemon', 'run', ...args], {
    cwd: root,
    env,
    extendEnv: false,
    detached: true,
    cleanup: false,
    forceKillAfterDelay: false,
    // The types of execa only allow descriptors up to 9.
    stdio: ['ignore', file, file] as Options['stdio'],
    reject: false,
  })
  closeSync(file)
  let ended: string | undefined
  void child.then(({signal: by, exitCode, originalMessage}) => {
    ended = by ?? (exitCode === undefined ? originalMessage : `status ${exitCode}`)
  })
  const deadline = performance.now() + timeoutMs
  try {
    for (;;) {
      signal.throwIfAborted()
      if (ended !== undefined) {
        refuseSecond(root)
        throw new SvcError('daemon_died', {ended, log, tail: tailOf(log, logStart)})
      }
      const ready = await answering(child.pid, options)
      if (ready !== undefined) return {...ready, log}
      if (performance.now() > deadline)
        throw new SvcError('daemon_start_timeout', {seconds: Math.round(timeoutMs / 1000), log})
      await sleep(pollMs)
    }
  } catch (error) {
    child.kill('SIGTERM')
    throw error
  } finally {
    child.unref()
  }
}

/** @throws file_unwritable */
function openLog(log: string): number {
  try {
    mkdirSync(dirname(log), {recursive: true, mode: 0o700})
    return openSync(log, 'a', 0o600)
  } catch (error) {
    throw writeFault(error, log)
  }
}

function refuseSecond(root: string): void {
  const other = findDaemon(root)
  if (other !== undefined) throw new SvcError('daemon_running', {pid: other.pid, host: 'this machine'})
}

async function answering(
  pid: number | undefined,
  {root, token, signal}: StartOptions,
): Promise<(Discovery & {addr: string}) | undefined> {
  const found = findDaemon(root)
  if (found === undefined || found.pid !== pid || found.addr === null) return undefined
  const {addr} = found
  const client = await DaemonClient.connect(addr, {token, signal})
  try {
    await client.call('orch.ping')
    return {...found, addr}
  } finally {
    client.close()
  }
}

/** Joins the last log lines written since an offset. */
function tailOf(log: string, from: number): string {
  const written = readFileSync(log).subarray(from)
  const lines = written
    .subarray(Math.max(0, written.length - tailBytes))
    .toString('utf8')
    .split('\n')
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-tailLines)
    .join(' | ')
}
