import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, realpath, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {svcBinary} from '../../support/svc.js'
import {startInTurn} from '../../support/svc-in-turn.js'
import {readJournal, stillAtWork} from './journal.js'
import {workspaceEnv, writeWorkspace} from './workspace.js'

/** A program of a workspace that runs, and may be killed at any moment. */
export interface Started {
  readonly pid: number
  /** Whole lines of standard output so far; one that a kill cut off is left out. */
  readonly lines: readonly string[]
  /** Standard error so far. */
  stderr(): string
  kill(signal: NodeJS.Signals): void
  /** Resolves when it has gone and all its output is read. Null where a signal ended it. */
  readonly exited: Promise<number | null>
}

export interface StartOptions {
  root: string
  onLine?: (line: string) => void
}

/** Runs a file with this Node. */
export function startNode(args: readonly string[], {root, onLine}: StartOptions): Started {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: {PATH: process.env.PATH, HOME: root, ...workspaceEnv},
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  let rest = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const pieces = `${rest}${chunk}`.split('\n')
    rest = pieces.pop() ?? ''
    for (const line of pieces) {
      lines.push(line)
      onLine?.(line)
    }
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  const started: Started = {
    pid: pidOf(child),
    lines,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
    exited: once(child, 'close').then(([code]) => code as number | null),
  }
  endLater(root, () => {
    child.kill('SIGKILL')
    return started.exited
  })
  return started
}

/** What ends the programs of each workspace. */
const running = new Map<string, (() => Promise<unknown>)[]>()
const endLater = (root: string, end: () => Promise<unknown>) => running.set(root, [...(running.get(root) ?? []), end])

/** Ends every program that was started in a workspace, and the commands that they left behind. */
export async function endPrograms(root: string): Promise<void> {
  const ends = running.get(root) ?? []
  running.delete(root)
  await Promise.all(ends.map((end) => end()))
  for (const pid of stillAtWork(root, readJournal(root))) process.kill(pid, 'SIGKILL')
}

/** A workspace that ends with the test, with everything that was started in it. */
export async function temporaryWorkspace(test: Pick<TestContext, 'after'>, toml?: string): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'svc-test-')))
  test.after(async () => {
    await endPrograms(root)
    await rm(root, {recursive: true, force: true})
  })
  await writeWorkspace(root, toml)
  return root
}

function pidOf({pid}: ChildProcess): number {
  if (pid === undefined) throw new Error('A process that has started has an id.')
  return pid
}

export const startCommand = (args: readonly string[], options: StartOptions): Started =>
  startNode([svcBinary, ...args], options)

/** A daemon of a workspace, as its lines tell it. */
export interface RunningDaemon extends Started {
  /** Resolves with true when it is ready, with false when it has ended without. */
  readonly ready: Promise<boolean>
  /** Ids of the events that it printed. */
  readonly events: readonly number[]
  /** Of the error that it ended with. */
  errorCode(): string
}

/** A daemon in a process that has run others before, for tests that look at the workspace alone. */
export function startDaemonInTurn(root: string): Pick<RunningDaemon, 'errorCode' | 'exited' | 'kill'> {
  const {lines, signal, ended, close} = startInTurn(['daemon', 'run', '--json'], {cwd: root, env: workspaceEnv})
  endLater(root, close)
  return {
    kill: signal,
    exited: ended.then(({exitCode}) => exitCode ?? null),
    errorCode: () => (JSON.parse(lines.at(-1) ?? '{}') as {error?: {code: string}}).error?.code ?? '',
  }
}

export function startDaemon(root: string): RunningDaemon {
  const events: number[] = []
  let code = ''
  let isReady: (ready: boolean) => void = () => undefined
  const ready = new Promise<boolean>((resolve) => {
    isReady = resolve
  })
  const started = startCommand(['daemon', 'run', '--json'], {
    root,
    onLine: (line) => {
      const {event, id, error} = JSON.parse(line) as {event?: string; id?: number; error?: {code: string}}
      if (event === 'ready') isReady(true)
      if (id !== undefined) events.push(id)
      code = error?.code ?? code
    },
  })
  void started.exited.then(() => isReady(false))
  return {...started, ready, events, errorCode: () => code}
}
