import {once} from 'node:events'
import {setTimeout as sleep} from 'node:timers/promises'
import {KeptOutput} from '../../tasks/index.js'

/** A program, which inherits nothing of its parent but what is named here. */
export interface GroupCommand {
  argv: readonly [program: string, ...args: string[]]
  cwd: string
  env: Readonly<Record<string, string>>
  timeoutMs: number
  /** Most bytes that are kept of standard output and standard error together. */
  maxOutputBytes: number
}

export interface GroupEnd {
  /** Null where a signal ended it. */
  exitCode: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
  durationMs: number
  output: KeptOutput
}

/** From SIGTERM to SIGKILL, ms. */
const graceMs = 2000
/** How long the pipes are read after the program has ended, ms: its children may be about to finish. */
const lingerMs = 500
const pollMs = 20
/** A longer timer fires at once. */
const longestTimerMs = 2 ** 31 - 1

/**
 * Runs a program to its end, as the leader of a process group of its own, without a shell and without input. When it
 * has ended, when its time is up or when the signal aborts, every process of the group is ended, first by SIGTERM, then
 * by SIGKILL: execa signals the leader alone. A process that leaves the group cannot be reached.
 * @param onStart called with the id of the group, which is that of its leader
 * @param onOutput called whenever it has written something
 * @throws the reason of the signal; what `onStart` throws; the error of the system where the program cannot be started
 */
export async function runInGroup(
  command: GroupCommand,
  signal: AbortSignal,
  onStart: (pid: number) => void = () => {},
  onOutput: (output: KeptOutput) => void = () => {},
): Promise<GroupEnd> {
  const {execa} = await import('execa')
  signal.throwIfAborted()
  const started = performance.now()
  const {argv, cwd, env} = command
  const [program, ...args] = argv
  const child = execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    detached: true,
    stdin: 'ignore',
    buffer: false,
    reject: false,
  })
  const {pid} = child
  if (pid === undefined) throw (await child).cause
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const output = new KeptOutput(command.maxOutputBytes, onOutput)
  output.record('stdout', child.stdout)
  output.record('stderr', child.stderr)
  const killAll = () => void send(pid, 'SIGKILL')
  process.once('exit', killAll)
  // Not AbortSignal.timeout: nothing but a combined signal would hold it, and that lets it be collected.
  const timeUp = new AbortController()
  const timer = setTimeout(() => timeUp.abort(), Math.min(command.timeoutMs, longestTimerMs))
  /** Resolves whether it ended without being stopped. */
  const lifetime = async () => {
    onStart(pid)
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
    clearTimeout(timer)
    process.off('exit', killAll)
    // A process that still holds the other ends has left the group: its output is not read.
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

/** Whether the promise came first. */
async function firstOf(exited: Promise<unknown>, stop: AbortSignal): Promise<boolean> {
  if (stop.aborted) return false
  const settled = new AbortController()
  const stopped = once(stop, 'abort', {signal: settled.signal}).then(
    () => false,
    () => false,
  )
  try {
    return await Promise.race([exited.then(() => true), stopped])
  } finally {
    settled.abort()
  }
}

const withinLinger = (closed: Promise<unknown>) => Promise.race([closed, sleep(lingerMs, undefined, {ref: false})])

/**
 * Resolves when no process of the group is left, or when SIGKILL is sent to all of them. Where process 1 does not reap
 * orphans, dead ones count as alive until the time is up.
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

/** Whether a process of the group received it. While one of them lives, no other process gets the id. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}
