import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {setTimeout as sleep} from 'node:timers/promises'
import {onAbort} from './abort.js'
import {KeptOutput, type OutputListener} from './kept-output.js'
import {userIds} from './system-user.js'
import {startTimer} from './timer.js'

/** A program that inherits only what is listed here. */
export interface GroupCommand {
  argv: readonly [program: string, ...args: string[]]
  cwd: string
  env: Readonly<Record<string, string>>
  timeoutMs: number
  /** Runs as this user, without the groups of this process; default: the user of this process. */
  user?: string | undefined
  /** Maximum number of bytes to keep of standard output and standard error together. */
  maxOutputBytes: number
}

export interface GroupListener extends OutputListener {
  /** Called with the group id, which is the pid of the leader. */
  onStart?: (pid: number) => void
}

export interface GroupEnd {
  /** Null if a signal terminated it. */
  exitCode: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
  durationMs: number
  output: KeptOutput
}

/** Delay between SIGTERM and SIGKILL, ms. */
const graceMs = 2000
/** How long the pipes are read after the program has ended, ms: its children may still be writing. */
const lingerMs = 500
const pollMs = 20

const startFaults: Readonly<Record<string, (program: string) => string>> = {
  ENOENT: (program) => `the program ${program} was not found`,
  EACCES: (program) => `the program ${program} is not executable`,
  E2BIG: () => 'its command line is too long for this system',
}

/** The system error of a program that cannot be started, in words. */
function startError(error: unknown, {argv: [program], cwd}: GroupCommand): unknown {
  const {code = ''} = error as NodeJS.ErrnoException
  const fault =
    code === 'ENOENT' && !existsSync(cwd) ? `the directory ${cwd} does not exist` : startFaults[code]?.(program)
  return fault === undefined ? error : Object.assign(new Error(fault, {cause: error}), {code})
}

/**
 * Runs a program as the leader of its own process group, without a shell and without input. When it has ended, times
 * out or is aborted, the whole group receives SIGTERM and then SIGKILL; execa only signals the leader. A process that
 * leaves the group cannot be reached.
 * @throws the reason of the signal; exec_user_unusable; errors of `onStart`; the system error if the program cannot be started
 */
export async function runInGroup(
  command: GroupCommand,
  signal: AbortSignal,
  listener: GroupListener = {},
): Promise<GroupEnd> {
  const {execa} = await import('execa')
  signal.throwIfAborted()
  const started = performance.now()
  const {argv, cwd, env, user} = command
  const identity = user === undefined ? {} : await userIds(user)
  const [program, ...args] = argv
  const child = execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    ...identity,
    detached: true,
    stdin: 'ignore',
    buffer: false,
    reject: false,
  })
  const {pid} = child
  if (pid === undefined) throw startError((await child).cause, command)
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const output = new KeptOutput(command.maxOutputBytes, listener)
  output.record('stdout', child.stdout)
  output.record('stderr', child.stderr)
  endWithProcess(pid)
  // Not AbortSignal.timeout: only a combined signal would reference it, and it could be garbage-collected.
  const timeUp = new AbortController()
  const timer = startTimer(() => timeUp.abort(), command.timeoutMs)
  /** Resolves to true if it ended without being stopped. */
  const lifetime = async () => {
    listener.onStart?.(pid)
    const ended = await firstOf(exited, AbortSignal.any([signal, timeUp.signal]))
    if (ended) await withinLinger(child)
    return ended
  }
  try {
    const ended = await lifetime().finally(() => endGroup(pid))
    const [exitCode, exitSignal] = await exited
    await withinLinger(child)
    signal.throwIfAborted()
    return {
      exitCode,
      signal: exitSignal,
      timedOut: !ended,
      durationMs: Math.round(performance.now() - started),
      output,
    }
  } finally {
    output.end()
    timer.stop()
    forget(pid)
    // A process that still holds the pipes has left the group: its output is not read.
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

/** The groups that end with this process, which has one listener for all of them. */
const groups = new Set<number>()

const killGroups = () => {
  for (const pid of groups) send(pid, 'SIGKILL')
}

function endWithProcess(pid: number): void {
  if (groups.size === 0) process.once('exit', killGroups)
  groups.add(pid)
}

function forget(pid: number): void {
  groups.delete(pid)
  if (groups.size === 0) process.off('exit', killGroups)
}

/** True if the promise settled before the signal aborted. */
async function firstOf(exited: Promise<unknown>, stop: AbortSignal): Promise<boolean> {
  let stopListening = () => {}
  const stopped = new Promise<false>((resolve) => {
    stopListening = onAbort(stop, () => resolve(false))
  })
  try {
    return await Promise.race([stopped, exited.then(() => true)])
  } finally {
    stopListening()
  }
}

/**
 * Resolves when the pipes are closed, or after `lingerMs`. The time is counted in turns of the event loop. On a busy
 * machine, a timer can be due before the output that a program has left in its pipes is read.
 */
async function withinLinger(closed: Promise<unknown>): Promise<void> {
  let isClosed = false
  const ended = closed.then(() => {
    isClosed = true
  })
  for (let turn = 0; turn < lingerMs / pollMs && !isClosed; turn++)
    await Promise.race([ended, sleep(pollMs, undefined, {ref: false})])
}

/**
 * Resolves when the group is empty or SIGKILL has been sent to all of it. If process 1 does not reap orphans, dead ones
 * count as alive until the deadline.
 */
async function endGroup(pid: number): Promise<void> {
  if (!send(pid, 'SIGTERM')) return
  const deadline = performance.now() + graceMs
  while (performance.now() < deadline) {
    await sleep(pollMs)
    if (!send(pid, 0)) return
  }
  send(pid, 'SIGKILL')
}

/** True if a process of the group received the signal. The group id is not reused while one of them lives. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}
